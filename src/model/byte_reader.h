#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "tensor/tensor_view.h"

namespace sotto {

inline std::string_view as_text(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Walks through a file that nobody vouches for. Nothing is read beyond the end: what is asked for and not
// there becomes an Error(bad_model) with the file, the offset and the name of the missing thing.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string file, size_t offset = 0)
      : bytes_(bytes), file_(std::move(file)), offset_(offset <= bytes.size() ? offset : bytes.size()) {}

  size_t offset() const noexcept { return offset_; }
  size_t remaining() const noexcept { return bytes_.size() - offset_; }
  const std::string& file() const noexcept { return file_; }

  std::span<const std::byte> take(uint64_t count, std::string_view what) {
    if (count > remaining())
      fail("{} needs {} bytes, but only {} are left: the file is cut off or damaged", what, count,
           remaining());
    const auto part = bytes_.subspan(offset_, static_cast<size_t>(count));
    offset_ += static_cast<size_t>(count);
    return part;
  }

  std::string_view take_text(uint64_t count, std::string_view what) { return as_text(take(count, what)); }

  // A little-endian integer.
  template <class Integer>
  Integer read(std::string_view what) {
    static_assert(std::is_integral_v<Integer>);
    const auto part = take(sizeof(Integer), what);
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(Integer); ++i) value |= std::to_integer<uint64_t>(part[i]) << (8 * i);
    return static_cast<Integer>(value);
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(ErrorCode::bad_model, "{}: at offset {}: {}", file_, offset_,
                fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  std::span<const std::byte> bytes_;
  std::string file_;
  size_t offset_;
};

// Text from a model file as it may stand in a message: short, and without control characters.
std::string printable(std::string_view text);

// tensor_bytes whose message names the file and the tensor.
size_t named_tensor_bytes(std::string_view file, std::string_view tensor, DType dtype, const Shape& shape);

}  // namespace sotto
