#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sotto {

// Bytes that somebody else owns and hands over piece by piece: a file in memory, a socket, a caller's
// iterator.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // How many bytes were put into out; 0 at the end; less than 0: they cannot be had.
  virtual int64_t read(std::span<std::byte> out) noexcept = 0;

  enum class From { start, here, end };
  virtual bool can_seek() const noexcept = 0;
  // The new position from the start; less than 0: that place cannot be reached.
  virtual int64_t seek(int64_t offset, From from) noexcept = 0;
};

}  // namespace sotto
