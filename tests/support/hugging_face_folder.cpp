#include "support/hugging_face_folder.h"

#include <fmt/format.h>

#include "model/config_json.h"
#include "model/safetensors.h"
#include "model/tensor_names.h"
#include "model/vocabulary.h"
#include "support/safetensors_bytes.h"
#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

std::string hugging_face_name(const std::string& name) {
  return name == kOutputMatrix ? name : "model." + name;
}

}  // namespace

std::vector<std::byte> plain_safetensors(const std::map<std::string, TensorView>& tensors) {
  Json header = Json::object();
  size_t offset = 0;
  std::vector<std::byte> data;
  for (const auto& [name, tensor] : tensors) {
    header[hugging_face_name(name)] = {{"dtype", safetensors_type_name(tensor.dtype)},
                                       {"shape", tensor.shape},
                                       {"data_offsets", {offset, offset + tensor.data.size()}}};
    offset += tensor.data.size();
    data.insert(data.end(), tensor.data.begin(), tensor.data.end());
  }
  std::vector<std::byte> bytes = safetensors_bytes(header.dump());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

void write_hugging_face_folder(const Checkpoint& checkpoint, const std::filesystem::path& folder,
                               int shards) {
  std::filesystem::create_directories(folder);
  write_file(folder / "config.json", config_json_text(checkpoint));
  write_file(folder / "generation_config.json", generation_json_text(checkpoint));
  write_file(folder / "preprocessor_config.json", preprocessor_json_text(checkpoint.config));
  write_file(folder / "tokenizer.json",
             tokenizer_json_from_vocabulary(checkpoint.vocabulary, checkpoint.source));
  if (shards == 1) return write_file(folder / "model.safetensors", plain_safetensors(checkpoint.tensors));
  std::vector<std::map<std::string, TensorView>> parts(shards);
  Json weight_map = Json::object();
  size_t next = 0;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    const size_t shard = next++ % parts.size();
    parts[shard].emplace(name, tensor);
    weight_map[hugging_face_name(name)] = fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards);
  }
  for (size_t shard = 0; shard < parts.size(); ++shard)
    write_file(folder / fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards),
               plain_safetensors(parts[shard]));
  write_file(folder / "model.safetensors.index.json", Json({{"weight_map", weight_map}}).dump());
}

}  // namespace sotto::test
