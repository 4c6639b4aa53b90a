#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace sotto {

// Immutable bytes with one owner: a mapped file, memory built into the program, or a buffer.
class Region {
 public:
  virtual ~Region() = default;
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  virtual std::span<const std::byte> bytes() const noexcept = 0;

  // These bytes are not needed again soon: their pages may leave memory. They stay readable.
  virtual void release(std::span<const std::byte> /*part*/) const noexcept {}
};

// Maps a regular file for reading; throws Error(io) that names the path and the system's reason.
std::shared_ptr<const Region> map_file(const std::filesystem::path& path);

// Bytes that live as long as the program (the embedded model).
std::shared_ptr<const Region> static_region(std::span<const std::byte> bytes);

// Bytes made in memory.
std::shared_ptr<const Region> memory_region(std::vector<std::byte> bytes);

// Gives memory that was freed back to the system, where the allocator keeps it: after a large piece of
// passing work.
void release_freed_memory() noexcept;

}  // namespace sotto
