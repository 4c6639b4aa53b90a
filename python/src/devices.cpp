#include "bindings.h"

namespace sotto::python {
namespace {

void on_step(const char* step, void* user) {
  const py::gil_scoped_acquire locked;
  call_back(*static_cast<const py::object*>(user), to_str(step));
}

py::str devices(const OptionTexts& texts, bool refresh) {
  const auto options = make_options(texts);
  return text_without_lock(sotto_devices, options.get(), refresh ? 1 : 0);
}

py::str doctor(const OptionTexts& texts, bool refresh, const py::object& step) {
  const auto options = make_options(texts);
  auto* user = const_cast<void*>(static_cast<const void*>(&step));
  return text_without_lock(sotto_doctor, options.get(), refresh ? 1 : 0, on_step, user);
}

py::str model_info(const std::string& path) {
  return text_without_lock(sotto_model_info, path.c_str());
}

}  // namespace

void bind_devices(py::module_& module) {
  module.def("devices", devices, py::arg("options"), py::arg("refresh"));
  module.def("doctor", doctor, py::arg("options"), py::arg("refresh"), py::arg("on_step"));
  module.def("model_info", model_info, py::arg("path"));
}

}  // namespace sotto::python
