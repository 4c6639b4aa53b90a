#include "cli/engine.h"

namespace sotto::cli {

void require_ok(sotto_status status) {
  if (status == SOTTO_OK) return;
  throw Failure(sotto_last_error(), status == SOTTO_ERROR_USAGE ? kExitUsage : kExitFailed);
}

OptionsOwner make_options() {
  sotto_options* options = nullptr;
  require_ok(sotto_options_new(&options));
  return OptionsOwner(options);
}

OptionsOwner copy_options(const sotto_options* options) {
  OptionsOwner copy = make_options();
  for (size_t index = 0; index < sotto_option_count(); ++index) {
    sotto_option_info info{};
    require_ok(sotto_option_at(index, &info));
    require_ok(sotto_options_set(copy.get(), info.name, option_text(options, info.name).c_str()));
  }
  return copy;
}

void configure(sotto_options* options) {
  require_ok(sotto_options_configure(options));
}

ModelOwner open_model(const sotto_options* options) {
  sotto_model* model = nullptr;
  require_ok(sotto_model_open(options, &model));
  return ModelOwner(model);
}

std::string document(const sotto_result* result, const std::string& format, const sotto_options* options) {
  return text_from(sotto_result_write, result, format.c_str(), options);
}

std::string option_text(const sotto_options* options, const char* name) {
  return text_from(sotto_options_get, options, name);
}

bool option_is_on(const sotto_options* options, const char* name) {
  return option_text(options, name) == "true";
}

}  // namespace sotto::cli
