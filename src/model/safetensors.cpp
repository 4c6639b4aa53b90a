#include "model/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "model/json_text.h"

namespace sotto {
namespace {

constexpr uint64_t kLengthBytes = 8;  // the header's length stands before it
constexpr uint64_t kMostHeaderBytes = 100'000'000;
constexpr int64_t kMostDimension = int64_t{1} << 31;
constexpr size_t kMostRank = 8;
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  DType type;
  std::string_view name;
};
constexpr std::array<TypeName, 3> kTypes = {
    {{DType::f32, "F32"}, {DType::f16, "F16"}, {DType::bf16, "BF16"}}};

// The part of the file behind the header, from which tensors are cut.
struct Payload {
  const NamedBytes& file;
  std::span<const std::byte> bytes;
};

uint64_t header_length(std::span<const std::byte> bytes) noexcept {
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  return length;
}

uint64_t checked_header_length(const NamedBytes& file) {
  const auto bytes = file.region->bytes();
  if (bytes.size() < kLengthBytes)
    throw Error(ErrorCode::bad_model, "{}: ends within the length of its header, after {} bytes", file.name,
                bytes.size());
  const uint64_t length = header_length(bytes);
  if (length > kMostHeaderBytes)
    throw Error(ErrorCode::bad_model, "{}: its header claims {} bytes, which no model needs", file.name,
                length);
  if (length > bytes.size() - kLengthBytes)
    throw Error(ErrorCode::bad_model, "{}: its header claims {} bytes but the file has only {}", file.name,
                length, bytes.size());
  return length;
}

DType read_type(const Json& entry, const std::string& tensor, const NamedBytes& file) {
  const Json* type = find_member(entry, "dtype");
  if (type == nullptr || !type->is_string())
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' has no type", file.name, tensor);
  for (const TypeName& known : kTypes)
    if (known.name == type->get_ref<const std::string&>()) return known.type;
  throw Error(ErrorCode::bad_model, "{}: the tensor '{}' has the type {}; F32, F16 and BF16 are supported",
              file.name, tensor, type->dump());
}

Shape read_shape(const Json& entry, const std::string& tensor, const NamedBytes& file) {
  const Json* sizes = find_member(entry, "shape");
  if (sizes == nullptr || !sizes->is_array() || sizes->size() > kMostRank)
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' has no valid shape", file.name, tensor);
  Shape shape;
  for (const Json& size : *sizes)
    shape.push_back(integer_value(size, "shape of " + tensor, file.name, 0, kMostDimension));
  return shape;
}

TensorView read_tensor(const std::string& name, const Json& entry, const Payload& payload) {
  const NamedBytes& file = payload.file;
  if (!entry.is_object())
    throw Error(ErrorCode::bad_model, "{}: the header's entry '{}' is not an object", file.name, name);
  TensorView tensor;
  tensor.dtype = read_type(entry, name, file);
  tensor.shape = read_shape(entry, name, file);
  const Json* offsets = find_member(entry, "data_offsets");
  if (offsets == nullptr || !offsets->is_array() || offsets->size() != 2)
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' has no offsets", file.name, name);
  const auto size = static_cast<int64_t>(payload.bytes.size());
  const std::string where = "offset of " + name;
  const int64_t begin = integer_value((*offsets)[0], where, file.name, 0, size);
  const int64_t end = integer_value((*offsets)[1], where, file.name, begin, size);
  const size_t needed = tensor_bytes(tensor.dtype, tensor.shape);
  if (static_cast<size_t>(end - begin) != needed)
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' of shape {} needs {} bytes but has {}", file.name,
                name, shape_text(tensor.shape), needed, end - begin);
  tensor.data = payload.bytes.subspan(static_cast<size_t>(begin), needed);
  tensor.owner = file.region;
  return tensor;
}

void require_no_overlap(const SafetensorsContent& content, const std::string& file) {
  struct Extent {
    const std::byte* begin;
    const std::byte* end;
    const std::string* name;
  };
  std::vector<Extent> extents;
  for (const auto& [name, tensor] : content.tensors)
    if (!tensor.data.empty())
      extents.push_back({tensor.data.data(), tensor.data.data() + tensor.data.size(), &name});
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < extents.size(); ++i)
    if (extents[i].begin < extents[i - 1].end)
      throw Error(ErrorCode::bad_model, "{}: the tensors '{}' and '{}' overlap", file, *extents[i - 1].name,
                  *extents[i].name);
}

}  // namespace

bool looks_like_safetensors(std::span<const std::byte> bytes) noexcept {
  return bytes.size() > kLengthBytes && header_length(bytes) <= kMostHeaderBytes &&
         header_length(bytes) >= 2 && bytes[kLengthBytes] == std::byte{'{'};
}

std::string_view safetensors_type_name(DType type) {
  for (const TypeName& known : kTypes)
    if (known.type == type) return known.name;
  throw Error(ErrorCode::usage, "safetensors files are written as float32, float16 or bfloat16, not as {}",
              dtype_name(type));
}

SafetensorsContent read_safetensors(const NamedBytes& file) {
  const uint64_t length = checked_header_length(file);
  const auto bytes = file.region->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  Json header = parse_json_object(text, file.name + ", header");
  const Payload payload{file, bytes.subspan(kLengthBytes + length)};
  SafetensorsContent content;
  for (auto& [name, entry] : header.get_ref<Json::object_t&>()) {
    if (name != kMetadata) {
      content.tensors.emplace(name, read_tensor(name, entry, payload));
      continue;
    }
    if (!entry.is_object()) throw Error(ErrorCode::bad_model, "{}: its metadata is not an object", file.name);
    for (auto& [key, value] : entry.get_ref<Json::object_t&>()) {
      string_value(value, key, file.name);
      content.metadata.emplace(key, std::move(value.get_ref<std::string&>()));
    }
  }
  require_no_overlap(content, file.name);
  return content;
}

}  // namespace sotto
