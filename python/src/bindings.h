#pragma once

// The C API as Python sees it, one file per topic and nothing more: what has to be decided is decided in the
// package's Python files. Everything that may take time is done without the interpreter's lock.
#include <map>
#include <memory>
#include <string>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <sotto/sotto.hpp>

namespace sotto::python {

namespace py = pybind11;

using OptionTexts = std::map<std::string, std::string>;  // name in the option list -> value

inline Owner<sotto_options> make_options(const OptionTexts& texts) {
  auto options = own(sotto_options_new);
  for (const auto& [name, value] : texts)
    check(sotto_options_set(options.get(), name.c_str(), value.c_str()));
  return options;
}

// A model's text may end within a character.
inline py::str to_str(const char* text) {
  PyObject* decoded =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::char_traits<char>::length(text)), "replace");
  if (decoded == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

// Calls a function of the C API that answers with a text, without the lock.
template <class Function, class... Arguments>
py::str text_without_lock(Function function, Arguments... arguments) {
  const std::string answer = [&] {
    const py::gil_scoped_release unlocked;
    return text(function, arguments...);
  }();
  return to_str(answer.c_str());
}

// The package's callbacks do not raise; should one do so, Python reports it and the work goes on.
template <class... Arguments>
void call_back(const py::object& function, Arguments&&... arguments) noexcept {
  try {
    function(std::forward<Arguments>(arguments)...);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("sotto");
  } catch (...) {  // no memory for the arguments
  }
}

// An input, and what it reads from.
struct AudioHandle {
  std::shared_ptr<void> origin;  // outlives the handle
  Owner<sotto_audio> handle;
};

void bind_audio(py::module_& module);
void bind_devices(py::module_& module);
void bind_messages(py::module_& module);
void bind_model(py::module_& module);
void bind_options(py::module_& module);

}  // namespace sotto::python
