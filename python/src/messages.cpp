#include "bindings.h"

namespace sotto::python {
namespace {

// The receiver is never given back: a message may be on its way while another receiver is set.
void forward(sotto_log_level level, const char* text, void* user) {
  const py::gil_scoped_acquire locked;
  call_back(py::reinterpret_borrow<py::object>(static_cast<PyObject*>(user)), static_cast<int>(level),
            to_str(text));
}

void set_log(const py::object& receiver) {
  PyObject* user = receiver.is_none() ? nullptr : py::object(receiver).release().ptr();
  const py::gil_scoped_release unlocked;
  sotto_set_log(user == nullptr ? nullptr : forward, user);
}

}  // namespace

void bind_messages(py::module_& module) {
  module.def("set_log", set_log, py::arg("receiver").none(true));
}

}  // namespace sotto::python
