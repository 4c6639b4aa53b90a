// Owners and exceptions over the C API (sotto.h), for C++17 and later. Everything is here: nothing to link
// besides the library.
//
//   auto options = sotto::own(sotto_options_new);
//   sotto::check(sotto_options_set(options.get(), "language", "en"));
//   auto model = sotto::own(sotto_model_open, options.get());
//   auto result = sotto::own(sotto_transcribe_file, model.get(), "talk.mp3", options.get(), nullptr);
//   std::string subtitles = sotto::text(sotto_result_write, result.get(), "srt", options.get());
#ifndef SOTTO_SOTTO_HPP
#define SOTTO_SOTTO_HPP

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

#include <sotto/sotto.h>

namespace sotto {
inline namespace api {

// A failed call; what() is the library's sentence.
class Error : public std::runtime_error {
 public:
  Error(sotto_status status, const std::string& sentence) : std::runtime_error(sentence), status_(status) {}
  sotto_status status() const noexcept { return status_; }

 private:
  sotto_status status_;
};

// Throws Error unless all is well. To be called on the thread that made the call.
inline void check(sotto_status status) {
  if (status != SOTTO_OK) throw Error(status, sotto_last_error());
}

struct GiveBack {
  void operator()(sotto_options* options) const noexcept { sotto_options_free(options); }
  void operator()(sotto_model* model) const noexcept { sotto_model_close(model); }
  void operator()(sotto_audio* audio) const noexcept { sotto_audio_close(audio); }
  void operator()(sotto_result* result) const noexcept { sotto_result_free(result); }
  void operator()(char* text) const noexcept { sotto_free(text); }
};

template <class Handle>
using Owner = std::unique_ptr<Handle, GiveBack>;

// Calls a function whose last parameter is `Handle** out`, and owns what it hands out. A transcription that
// was stopped is an Error here; who wants its result calls the function directly.
template <class... Parameters, class... Arguments>
auto own(sotto_status (*function)(Parameters...), Arguments... arguments) {
  using Out = std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>;
  using Handle = std::remove_pointer_t<std::remove_pointer_t<Out>>;
  Handle* handle = nullptr;
  const sotto_status status = function(arguments..., &handle);
  Owner<Handle> owner(handle);
  check(status);
  return owner;
}

// The same for functions that answer with a text.
template <class... Parameters, class... Arguments>
std::string text(sotto_status (*function)(Parameters...), Arguments... arguments) {
  return own(function, arguments...).get();
}

}  // namespace api
}  // namespace sotto

#endif
