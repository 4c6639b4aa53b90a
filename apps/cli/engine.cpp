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

ModelOwner open_model(const sotto_options* options) {
  sotto_model* model = nullptr;
  require_ok(sotto_model_open(options, &model));
  return ModelOwner(model);
}

std::string document(const sotto_result* result, const char* format) {
  return text_from(sotto_result_write, result, format);
}

}  // namespace sotto::cli
