#pragma once

#include <string>

#include "model/checkpoint.h"
#include "support/byte_writer.h"

namespace sotto::test {

// Writes the pickle instructions that torch.save uses (protocol 2).
class PickleWriter {
 public:
  PickleWriter() { out_.put_text("\x80\x02"); }

  void op(char opcode) { out_.put(opcode); }
  void text(const std::string& value);
  void number(int64_t value);
  void global(const std::string& module, const std::string& name) {
    out_.put_text("c" + module + "\n" + name + "\n");
  }
  void memoize();  // under the next index
  WrittenFile finish();

 private:
  ByteWriter out_;
  uint32_t memo_ = 0;
};

// A tensor in an archive: its bytes are the entry data/<key>.
struct PickledTensor {
  std::string name;
  DType dtype;
  Shape shape, strides;
  int64_t offset = 0, storage_elements = 0;
  std::string key;
};
PickledTensor contiguous_tensor(const std::string& name, DType dtype, const Shape& shape,
                                const std::string& key);

struct OpenAiOptions {
  DType type = DType::f16;
  std::string tokenizer_json;  // stored in the checkpoint where not empty
};

// data.pkl of a checkpoint with these tensors.
WrittenFile write_openai_pickle(const ModelConfig& config, const std::vector<PickledTensor>& tensors,
                                const std::string& tokenizer_json);
// The whole .pt file.
WrittenFile write_openai(const Checkpoint& checkpoint, const OpenAiOptions& options);

}  // namespace sotto::test
