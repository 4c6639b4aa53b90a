#include "support/openai_writer.h"

#include <utility>

#include "support/openai_tensor_names.h"
#include "support/zip_writer.h"

namespace sotto::test {
namespace {

void put_shape(PickleWriter& out, const Shape& shape) {
  out.op('(');
  for (const int64_t size : shape) out.number(size);
  out.op('t');
}

void put_tensor(PickleWriter& out, const PickledTensor& tensor) {
  out.global("torch._utils", "_rebuild_tensor_v2");
  out.op('(');
  out.op('(');
  out.text("storage");
  out.global("torch", tensor.dtype == DType::f32   ? "FloatStorage"
                      : tensor.dtype == DType::f16 ? "HalfStorage"
                                                   : "BFloat16Storage");
  out.text(tensor.key);
  out.text("cpu");
  out.number(tensor.storage_elements);
  out.op('t');
  out.memoize();
  out.op('Q');
  out.number(tensor.offset);
  put_shape(out, tensor.shape);
  put_shape(out, tensor.strides);
  out.op('\x89');
  out.global("collections", "OrderedDict");
  out.op(')');
  out.op('R');
  out.op('t');
  out.op('R');
  out.memoize();
}

void put_sizes(PickleWriter& out, const ModelConfig& config) {
  const std::pair<const char*, int> kSizes[] = {{"n_mels", config.mel_bins},
                                                {"n_vocab", config.vocabulary},
                                                {"n_audio_ctx", config.audio_positions},
                                                {"n_audio_state", config.width},
                                                {"n_audio_head", config.encoder_heads},
                                                {"n_audio_layer", config.encoder_layers},
                                                {"n_text_ctx", config.text_positions},
                                                {"n_text_state", config.width},
                                                {"n_text_head", config.decoder_heads},
                                                {"n_text_layer", config.decoder_layers}};
  out.op('}');
  out.memoize();
  out.op('(');
  for (const auto& [name, value] : kSizes) {
    out.text(name);
    out.number(value);
  }
  out.op('u');
}

}  // namespace

void PickleWriter::text(const std::string& value) {
  op('X');
  out_.put(static_cast<uint32_t>(value.size()));
  out_.put_text(value);
  memoize();
}

void PickleWriter::number(int64_t value) {
  if (value >= 0 && value < 256) {
    op('K');
    out_.put(static_cast<uint8_t>(value));
  } else if (value >= 0 && value < 65536) {
    op('M');
    out_.put(static_cast<uint16_t>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    op('J');
    out_.put(static_cast<int32_t>(value));
  } else {
    op('\x8a');
    out_.put(uint8_t{8});
    out_.put(value);
  }
}

void PickleWriter::memoize() {
  if (memo_ < 256) {
    op('q');
    out_.put(static_cast<uint8_t>(memo_));
  } else {
    op('r');
    out_.put(memo_);
  }
  ++memo_;
}

WrittenFile PickleWriter::finish() {
  op('.');
  return out_.take();
}

PickledTensor contiguous_tensor(const std::string& name, DType dtype, const Shape& shape,
                                const std::string& key) {
  PickledTensor tensor{name, dtype, shape, shape, 0, shape_elements(shape), key};
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0; stride *= shape[i]) tensor.strides[i] = stride;
  return tensor;
}

WrittenFile write_openai_pickle(const ModelConfig& config, const std::vector<PickledTensor>& tensors,
                                const std::string& tokenizer_json) {
  PickleWriter out;
  out.op('}');
  out.memoize();
  out.op('(');
  out.text("dims");
  put_sizes(out, config);
  out.text("model_state_dict");
  out.global("collections", "OrderedDict");
  out.op(')');
  out.op('R');
  out.memoize();
  out.op('(');
  for (const PickledTensor& tensor : tensors) {
    out.text(tensor.name);
    put_tensor(out, tensor);
  }
  out.op('u');
  out.op('}');  // PyTorch's versions, an attribute of the OrderedDict
  out.text("_metadata");
  out.op('N');
  out.op('s');
  out.op('b');
  if (!tokenizer_json.empty()) {
    out.text("tokenizer.json");
    out.text(tokenizer_json);
  }
  out.op('u');
  return out.finish();
}

WrittenFile write_openai(const Checkpoint& checkpoint, const OpenAiOptions& options) {
  std::vector<PickledTensor> tensors;
  std::vector<std::vector<std::byte>> data;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    tensors.push_back(
        contiguous_tensor(openai_name(name), options.type, tensor.shape, std::to_string(tensors.size())));
    ByteWriter out;
    for (const float value : read_all(tensor)) {
      if (options.type == DType::f16)
        out.put(float_to_half(value));
      else if (options.type == DType::bf16)
        out.put(float_to_bfloat(value));
      else
        out.put(value);
    }
    data.push_back(out.take().bytes);
  }
  const auto text = [](std::string_view value) {
    return std::as_bytes(std::span(value.data(), value.size()));
  };
  ZipWriter zip;
  zip.add("small/data.pkl", write_openai_pickle(checkpoint.config, tensors, options.tokenizer_json).bytes);
  zip.add("small/byteorder", text("little"));
  for (size_t i = 0; i < data.size(); ++i) zip.add("small/data/" + tensors[i].key, data[i]);
  zip.add("small/version", text("3\n"));
  return zip.finish();
}

}  // namespace sotto::test
