#include "bindings.h"

namespace sotto::python {
namespace {

// The classes of exceptions are the package's own (sotto/errors.py).
void raise_error(std::exception_ptr problem) {
  try {
    if (problem) std::rethrow_exception(problem);
  } catch (const Error& error) {
    const py::object made = py::module_::import("sotto.errors")
                                .attr("from_status")(static_cast<int>(error.status()), to_str(error.what()));
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  }
}

}  // namespace
}  // namespace sotto::python

PYBIND11_MODULE(_native, module) {
  using namespace sotto::python;
  module.doc() = "The C API of Sotto. Private: use the package sotto.";
  py::register_exception_translator(raise_error);
  module.def("version", sotto_version);
  bind_messages(module);
  bind_options(module);
  bind_devices(module);
  bind_audio(module);
  bind_model(module);
}
