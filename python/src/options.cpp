#include "bindings.h"

namespace sotto::python {
namespace {

// (name, group, type, default, choices, help) of each.
py::list option_list() {
  constexpr const char* kTypes[] = {"bool", "int", "float", "str"};
  py::list list;
  for (size_t index = 0; index < sotto_option_count(); ++index) {
    sotto_option_info info{};
    check(sotto_option_at(index, &info));
    list.append(py::make_tuple(info.name, info.group, kTypes[info.type], to_str(info.default_value),
                               info.choices, info.help));
  }
  return list;
}

// (name, description) of each.
py::list output_formats() {
  py::list list;
  for (size_t index = 0; index < sotto_output_format_count(); ++index)
    list.append(py::make_tuple(sotto_output_format(index), sotto_output_format_description(index)));
  return list;
}

// (code, English name) of each.
py::list languages() {
  py::list list;
  for (size_t index = 0; index < sotto_language_count(); ++index)
    list.append(py::make_tuple(sotto_language_code(index), sotto_language_name(index)));
  return list;
}

}  // namespace

void bind_options(py::module_& module) {
  module.def("option_list", option_list);
  module.def("output_formats", output_formats);
  module.def("languages", languages);
}

}  // namespace sotto::python
