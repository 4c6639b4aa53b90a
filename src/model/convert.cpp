#include "model/convert.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>

#include "base/error.h"
#include "model/config_json.h"
#include "model/safetensors.h"
#include "model/tensor_names.h"
#include "model/vocabulary.h"
#include "tensor/float_convert.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

constexpr size_t kAlignment = 64;          // of the first tensor in the file
constexpr size_t kChunkValues = 1u << 18;  // converted at a time: memory stays flat

// One tensor of the file to write, in file order.
struct OutputTensor {
  const std::string* name;
  const TensorView* tensor;
  DType type;
  size_t bytes;
};

// A file that gets its real name only when it is complete.
class PendingFile {
 public:
  explicit PendingFile(const fs::path& target) : target_(target), pending_(target) {
    pending_ += fmt::format(".{}.part", std::random_device{}());
    file_ = std::fopen(pending_.c_str(), "wbx");
    if (file_ == nullptr) throw failure("cannot be created");
  }

  ~PendingFile() {
    if (file_ != nullptr) std::fclose(file_);
    std::error_code ignored;
    if (!finished_) fs::remove(pending_, ignored);
  }

  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  void write(std::span<const std::byte> bytes) {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) throw failure("cannot be written");
  }

  void finish() {
    const bool closed =
        std::fclose(std::exchange(file_, nullptr)) == 0;  // the last bytes may be refused only here
    if (!closed) throw failure("cannot be written");
    std::error_code failed;
    fs::rename(pending_, target_, failed);
    if (failed)
      throw Error(ErrorCode::io, "{}: cannot be put in place: {}", target_.string(), failed.message());
    finished_ = true;
  }

 private:
  Error failure(std::string_view what) const {
    return {ErrorCode::io, "{}: {}: {}", target_.string(), what, std::strerror(errno)};
  }

  fs::path target_, pending_;
  std::FILE* file_ = nullptr;
  bool finished_ = false;
};

// Biases and norms are few and sensitive: they keep their precision unless the source had less already.
DType output_type(const TensorView& tensor, DType wanted) {
  return tensor.shape.size() < 2 && tensor.dtype != wanted ? DType::f32 : wanted;
}

// Wider types first, so that every tensor is aligned to its elements; then by name, so that equal models give
// equal files.
std::vector<OutputTensor> plan_tensors(const Checkpoint& checkpoint, DType wanted) {
  std::vector<OutputTensor> tensors;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    const DType type = output_type(tensor, wanted);
    tensors.push_back({&name, &tensor, type, tensor_bytes(type, tensor.shape)});
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const OutputTensor& a, const OutputTensor& b) {
    return dtype_block_bytes(a.type) > dtype_block_bytes(b.type);
  });
  return tensors;
}

std::string header_text(const Checkpoint& checkpoint, const std::vector<OutputTensor>& tensors) {
  Json header = {
      {"__metadata__",
       {{"format", "pt"},  // what other readers of the format expect to find
        {"config.json", config_json_text(checkpoint)},
        {"generation_config.json", generation_json_text(checkpoint)},
        {"preprocessor_config.json", preprocessor_json_text(checkpoint.config)},
        {"tokenizer.json", tokenizer_json_from_vocabulary(checkpoint.vocabulary, checkpoint.source)}}}};
  size_t offset = 0;
  for (const OutputTensor& output : tensors) {
    const std::string name = *output.name == kOutputMatrix ? *output.name : "model." + *output.name;
    header[name] = {{"dtype", safetensors_type_name(output.type)},
                    {"shape", output.tensor->shape},
                    {"data_offsets", {offset, offset + output.bytes}}};
    offset += output.bytes;
  }
  std::string text = header.dump();
  const size_t before_tensors = sizeof(uint64_t) + text.size();
  text.append((kAlignment - before_tensors % kAlignment) % kAlignment, ' ');
  return text;
}

void require_finite_halves(const OutputTensor& output, std::span<const float> values,
                           const std::string& source) {
  constexpr float kLargestHalf = 65504.0f;
  for (const float value : values)
    if (std::fabs(value) > kLargestHalf && std::isfinite(value))
      throw Error(ErrorCode::unsupported,
                  "{}: the tensor '{}' holds {}, which float16 cannot; convert to bfloat16 or float32",
                  source, *output.name, value);
}

void write_converted(const OutputTensor& output, const std::string& source, PendingFile& file) {
  const TensorView& tensor = *output.tensor;
  const int64_t row_elements = std::max<int64_t>(tensor.row_elements(), 1);
  const int64_t rows_at_once = std::max<int64_t>(static_cast<int64_t>(kChunkValues) / row_elements, 1);
  std::vector<float> values;
  std::vector<std::byte> bytes;
  for (int64_t row = 0; row < tensor.rows(); row += rows_at_once) {
    const int64_t rows = std::min(rows_at_once, tensor.rows() - row);
    values.resize(static_cast<size_t>(rows * tensor.row_elements()));
    read_rows(tensor, row, rows, values.data());
    if (output.type == DType::f32) {
      file.write(std::as_bytes(std::span(values)));
      continue;
    }
    bytes.resize(values.size() * 2);
    if (output.type == DType::f16) {
      require_finite_halves(output, values, source);
      floats_to_halves(values.data(), values.size(), bytes.data());
    } else {
      floats_to_bfloats(values.data(), values.size(), bytes.data());
    }
    file.write(bytes);
  }
}

void write_tensor(const OutputTensor& output, const std::string& source, PendingFile& file) {
  if (output.tensor->dtype == output.type)
    file.write(output.tensor->data);
  else
    write_converted(output, source, file);
  if (output.tensor->owner) output.tensor->owner->release(output.tensor->data);
}

}  // namespace

void write_safetensors(const Checkpoint& checkpoint, const fs::path& to, DType type) {
  safetensors_type_name(type);  // refuses the types that the format lacks
  const std::vector<OutputTensor> tensors = plan_tensors(checkpoint, type);
  const std::string header = header_text(checkpoint, tensors);
  const uint64_t length = header.size();
  PendingFile file(to);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(header.data(), header.size())));
  for (const OutputTensor& output : tensors) write_tensor(output, checkpoint.source, file);
  file.finish();
}

}  // namespace sotto
