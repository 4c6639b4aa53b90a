#include <atomic>

#include "bindings.h"

namespace sotto::python {
namespace {

// Asked by the engine without the lock, so a busy interpreter does not delay the end.
class StopFlag {
 public:
  void set() noexcept { set_ = true; }
  bool is_set() const noexcept { return set_; }

 private:
  std::atomic<bool> set_ = false;
};

// Waits for the engine's threads, which may want the lock for a message.
void close_without_lock(sotto_model* model) {
  if (PyGILState_Check() == 0) {
    sotto_model_close(model);
    return;
  }
  const py::gil_scoped_release unlocked;
  sotto_model_close(model);
}

struct Model {
  std::shared_ptr<sotto_model> handle;  // also held by what is being transcribed; empty: unloaded
  std::string requested_device;

  const std::shared_ptr<sotto_model>& loaded() const {
    if (!handle) throw Error(SOTTO_ERROR_USAGE, "the model has been unloaded");
    return handle;
  }
};

struct Result {
  Owner<sotto_result> handle;
};

// The arguments of sotto.Segment, in its order.
py::tuple segment_fields(const sotto_segment& segment) {
  py::list words, tokens;
  for (size_t i = 0; i < segment.word_count; ++i) {
    const sotto_word& word = segment.words[i];
    words.append(py::make_tuple(word.start, word.end, to_str(word.text), word.probability));
  }
  for (size_t i = 0; i < segment.token_count; ++i) tokens.append(segment.tokens[i]);
  return py::make_tuple(segment.id, segment.start, segment.end, to_str(segment.text),
                        to_str(segment.language), tokens, words, segment.temperature,
                        segment.average_log_probability, segment.compression_ratio,
                        segment.no_speech_probability, segment.language_probability, segment.attempts,
                        segment.uncovered_speech, to_str(segment.suspect));
}

// What the callbacks of the C API are given.
struct Listener {
  const py::object& segment;
  const py::object& progress;
  const py::object& language;
  const StopFlag& stop;

  static Listener& of(void* user) { return *static_cast<Listener*>(user); }

  static void on_segment(const sotto_segment* segment, void* user) {
    const py::gil_scoped_acquire locked;
    call_back(of(user).segment, segment_fields(*segment));
  }
  static void on_progress(double done, double total, void* user) {
    const py::gil_scoped_acquire locked;
    call_back(of(user).progress, done, total);
  }
  static void on_language(const sotto_language* languages, size_t count, void* user) {
    const py::gil_scoped_acquire locked;
    py::list list;
    for (size_t i = 0; i < count; ++i)
      list.append(py::make_tuple(languages[i].code, languages[i].probability));
    call_back(of(user).language, list);
  }
  static int should_stop(void* user) { return of(user).stop.is_set() ? 1 : 0; }
};

// A stopped transcription gives a result too; it says that it is not complete.
Result transcribe(const Model& model, AudioHandle& audio, const OptionTexts& texts, const StopFlag& stop,
                  const py::object& on_segment, const py::object& on_progress,
                  const py::object& on_language) {
  const auto options = make_options(texts);
  const std::shared_ptr<sotto_model> handle = model.loaded();
  Listener listener{on_segment, on_progress, on_language, stop};
  const sotto_callbacks callbacks{sizeof(sotto_callbacks), &listener,
                                  Listener::on_segment,    Listener::on_progress,
                                  Listener::should_stop,   Listener::on_language};
  sotto_result* made = nullptr;
  const py::gil_scoped_release unlocked;
  const sotto_status status =
      sotto_transcribe(handle.get(), audio.handle.get(), options.get(), &callbacks, &made);
  Owner<sotto_result> result(made);
  if (status != SOTTO_CANCELLED) check(status);
  return {std::move(result)};
}

std::unique_ptr<Model> open_model(const OptionTexts& texts) {
  const auto options = make_options(texts);
  const py::gil_scoped_release unlocked;
  check(sotto_options_configure(options.get()));
  std::shared_ptr<sotto_model> handle(own(sotto_model_open, options.get()).release(), close_without_lock);
  return std::make_unique<Model>(Model{std::move(handle), text(sotto_options_get, options.get(), "device")});
}

void close_model(Model& model) {
  model.handle.reset();
}

py::str write(const Result& result, const std::string& format, const OptionTexts& texts) {
  const auto options = make_options(texts);
  return text_without_lock(sotto_result_write, result.handle.get(), format.c_str(), options.get());
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<StopFlag>(module, "StopFlag")
      .def(py::init<>())
      .def("set", &StopFlag::set)
      .def("is_set", &StopFlag::is_set);

  py::class_<Result>(module, "Result")
      .def_property_readonly("language",
                             [](const Result& r) { return sotto_result_language(r.handle.get()); })
      .def_property_readonly(
          "language_probability",
          [](const Result& r) { return sotto_result_language_probability(r.handle.get()); })
      .def_property_readonly("duration",
                             [](const Result& r) { return sotto_result_duration(r.handle.get()); })
      .def_property_readonly("is_complete",
                             [](const Result& r) { return sotto_result_is_complete(r.handle.get()) != 0; })
      .def("write", write, py::arg("format"), py::arg("options"));

  py::class_<Model>(module, "Model")
      .def(py::init(&open_model), py::arg("options"))
      .def_property_readonly("name",
                             [](const Model& m) { return to_str(sotto_model_name(m.loaded().get())); })
      .def_property_readonly("device_line",
                             [](const Model& m) { return to_str(sotto_model_device(m.loaded().get())); })
      .def_property_readonly(
          "is_demonstration",
          [](const Model& m) { return sotto_model_is_demonstration(m.loaded().get()) != 0; })
      .def_readonly("requested_device", &Model::requested_device)
      .def("device_record",
           [](const Model& m) { return text_without_lock(sotto_model_device_record, m.loaded().get()); })
      .def("close", close_model)
      .def("transcribe", transcribe, py::arg("audio"), py::arg("options"), py::arg("stop"),
           py::arg("on_segment"), py::arg("on_progress"), py::arg("on_language"));
}

}  // namespace sotto::python
