#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace sotto::test {

// A file made in memory, with the places where one of its parts ends: what a truncated download may look
// like.
struct WrittenFile {
  std::vector<std::byte> bytes;
  std::vector<size_t> boundaries;
};

class ByteWriter {
 public:
  template <class Number>
  void put(Number value) {
    static_assert(std::is_arithmetic_v<Number>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    file_.bytes.insert(file_.bytes.end(), bytes.begin(), bytes.end());
    file_.boundaries.push_back(file_.bytes.size());
  }
  void put_text(std::string_view text) { put_bytes(std::as_bytes(std::span(text.data(), text.size()))); }
  size_t size() const { return file_.bytes.size(); }
  WrittenFile take() { return std::move(file_); }

 private:
  WrittenFile file_;
};

}  // namespace sotto::test
