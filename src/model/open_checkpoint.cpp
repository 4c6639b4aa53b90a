#include "model/store.h"

namespace sotto {

bool is_embedded_model(const std::string& name_or_path) {
  return name_or_path.empty() || name_or_path == "nano";
}

Checkpoint open_checkpoint(const std::string& name_or_path) {
  return is_embedded_model(name_or_path) ? embedded_checkpoint() : read_checkpoint(find_model(name_or_path));
}

}  // namespace sotto
