#include "support/npz.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <zlib.h>

#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

using Bytes = std::span<const std::byte>;

Bytes part(Bytes bytes, size_t offset, size_t count) {
  if (offset > bytes.size() || count > bytes.size() - offset) throw std::runtime_error("the file ends early");
  return bytes.subspan(offset, count);
}

template <class T>
T read_at(Bytes bytes, size_t offset) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, part(bytes, offset, sizeof value).data(), sizeof value);
  return value;
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

float float_from_half(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float sign = half >> 15 ? -1.0F : 1.0F;
  if (exponent == 31) return sign * (fraction ? NAN : INFINITY);
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25));
}

// What follows "'key': " in the Python dictionary that heads an array.
std::string_view header_value(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}': ", key));
  if (at == std::string_view::npos) throw std::runtime_error(fmt::format("the header lacks {}", key));
  return header.substr(at + key.size() + 4);
}

std::vector<size_t> parse_shape(std::string_view text) {
  std::vector<size_t> shape;
  for (size_t i = 1; i < text.size() && text[i] != ')'; ++i) {  // after the opening bracket
    if (text[i] < '0' || text[i] > '9') continue;
    size_t value = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      value = value * 10 + static_cast<size_t>(text[i] - '0');
    shape.push_back(value);
    --i;
  }
  return shape;
}

template <class T, class Out>
void read_values(Bytes data, size_t count, std::vector<Out>& out) {
  part(data, 0, count * sizeof(T));
  out.resize(count);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<Out>(read_at<T>(data, i * sizeof(T)));
}

NpyArray parse_npy(Bytes bytes) {
  if (text_of(part(bytes, 0, 6)) != "\x93NUMPY") throw std::runtime_error("this is not a NumPy array");
  const bool short_header = read_at<uint8_t>(bytes, 6) == 1;
  const size_t header_at = short_header ? 10 : 12;
  const size_t header_size = short_header ? read_at<uint16_t>(bytes, 8) : read_at<uint32_t>(bytes, 8);
  const std::string_view header = text_of(part(bytes, header_at, header_size));
  const Bytes data = bytes.subspan(header_at + header_size);
  if (!header_value(header, "fortran_order").starts_with("False"))
    throw std::runtime_error("the array is transposed");

  NpyArray array;
  array.shape = parse_shape(header_value(header, "shape"));
  const size_t count = array.size();
  const std::string_view type = header_value(header, "descr").substr(1, 3);
  if (type == "<f4") {
    read_values<float>(data, count, array.floats);
  } else if (type == "<f8") {
    read_values<double>(data, count, array.floats);
  } else if (type == "<f2") {
    array.floats.resize(count);
    for (size_t i = 0; i < count; ++i) array.floats[i] = float_from_half(read_at<uint16_t>(data, 2 * i));
  } else if (type == "<i8") {
    read_values<int64_t>(data, count, array.ints);
  } else if (type == "<i4") {
    read_values<int32_t>(data, count, array.ints);
  } else {
    throw std::runtime_error("the array has the unknown type " + std::string(type));
  }
  return array;
}

std::vector<std::byte> inflate_raw(Bytes packed, size_t size) {
  std::vector<std::byte> out(size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::runtime_error("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = inflate(&stream, Z_FINISH);
  const size_t produced = stream.total_out;
  inflateEnd(&stream);
  if (status != Z_STREAM_END || produced != size) throw std::runtime_error("the packed data are damaged");
  return out;
}

// Follows the zip's central directory, whose sizes are always filled in.
std::map<std::string, NpyArray> parse_npz(Bytes zip) {
  constexpr size_t kEndSize = 22, kEntrySize = 46, kLocalSize = 30;
  constexpr std::string_view kEndMark("PK\5\6", 4);
  const size_t end = text_of(zip).rfind(kEndMark);
  if (end == std::string_view::npos) throw std::runtime_error("this is not a zip archive");
  part(zip, end, kEndSize);
  const size_t entries = read_at<uint16_t>(zip, end + 10);
  size_t at = read_at<uint32_t>(zip, end + 16);

  std::map<std::string, NpyArray> arrays;
  for (size_t i = 0; i < entries; ++i) {
    const auto method = read_at<uint16_t>(zip, at + 10);
    const size_t packed_size = read_at<uint32_t>(zip, at + 20), size = read_at<uint32_t>(zip, at + 24);
    const size_t name_size = read_at<uint16_t>(zip, at + 28);
    const size_t local = read_at<uint32_t>(zip, at + 42);
    std::string name(text_of(part(zip, at + kEntrySize, name_size)));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    const size_t data_at =
        local + kLocalSize + read_at<uint16_t>(zip, local + 26) + read_at<uint16_t>(zip, local + 28);
    const Bytes packed = part(zip, data_at, packed_size);
    if (method != 0 && method != 8) throw std::runtime_error("'" + name + "' is packed by an unknown method");
    arrays[name] = method == 0 ? parse_npy(packed) : parse_npy(inflate_raw(packed, size));
    at += kEntrySize + name_size + read_at<uint16_t>(zip, at + 30) + read_at<uint16_t>(zip, at + 32);
  }
  return arrays;
}

template <class Parse>
auto parse_file(const std::filesystem::path& path, Parse parse) {
  try {
    return parse(read_file(path));
  } catch (const std::exception& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
}

}  // namespace

size_t NpyArray::size() const {
  return std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
}

NpyArray read_npy(const std::filesystem::path& path) {
  return parse_file(path, parse_npy);
}

std::map<std::string, NpyArray> read_npz(const std::filesystem::path& path) {
  return parse_file(path, parse_npz);
}

}  // namespace sotto::test
