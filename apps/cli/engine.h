#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <sotto/sotto.hpp>

// The C API as this program uses it: with exceptions that know the exit code.
namespace sotto::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Ends the command with one sentence for the user.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& sentence, int exit_code = kExitFailed)
      : std::runtime_error(sentence), exit_code_(exit_code) {}
  int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

class UsageFailure : public Failure {
 public:
  explicit UsageFailure(const std::string& sentence) : Failure(sentence, kExitUsage) {}
};

using OptionsOwner = Owner<sotto_options>;
using ModelOwner = Owner<sotto_model>;
using ResultOwner = Owner<sotto_result>;

// Turns anything but SOTTO_OK into a Failure with the engine's own sentence.
void require_ok(sotto_status status);

OptionsOwner make_options();
OptionsOwner copy_options(const sotto_options* options);
void configure(sotto_options* options);  // what the user has configured, below what was set already
ModelOwner open_model(const sotto_options* options);
std::string document(const sotto_result* result, const std::string& format, const sotto_options* options);

std::string option_text(const sotto_options* options, const char* name);
bool option_is_on(const sotto_options* options, const char* name);

// Calls an API function whose last argument is `char** out`.
template <class Function, class... Args>
std::string text_from(Function function, Args... args) {
  char* text = nullptr;
  const sotto_status status = function(args..., &text);
  const Owner<char> owner(text);
  require_ok(status);
  return owner ? std::string(owner.get()) : std::string();
}

}  // namespace sotto::cli
