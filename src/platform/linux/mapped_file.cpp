#include "platform/mapped_file.h"

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace sotto {
namespace {

class MappedFile final : public Region {
 public:
  MappedFile(void* address, size_t size) : address_(address), size_(size) {}
  ~MappedFile() override {
    if (size_ > 0) munmap(address_, size_);
  }

  std::span<const std::byte> bytes() const noexcept override {
    return {static_cast<const std::byte*>(address_), size_};
  }

  void release(std::span<const std::byte> part) const noexcept override {
    if (part.empty()) return;
    static const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    // Whole pages inside the part only: the ones at its edges may belong to a neighbour that is still needed.
    const auto begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
    const auto end = (reinterpret_cast<uintptr_t>(part.data()) + part.size()) / page * page;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }

 private:
  void* address_;
  size_t size_;
};

class StaticRegion final : public Region {
 public:
  explicit StaticRegion(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> bytes() const noexcept override { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

class MemoryRegion final : public Region {
 public:
  explicit MemoryRegion(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::span<const std::byte> bytes() const noexcept override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

struct FileDescriptor {
  int value;
  ~FileDescriptor() {
    if (value >= 0) close(value);
  }
};

}  // namespace

std::shared_ptr<const Region> map_file(const std::filesystem::path& path) {
  const FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.value < 0)
    throw Error(ErrorCode::io, "{}: cannot be opened: {}", path.string(), std::strerror(errno));
  struct stat status {};
  if (fstat(file.value, &status) != 0)
    throw Error(ErrorCode::io, "{}: cannot be examined: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw Error(ErrorCode::io, "{}: is not a regular file", path.string());
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return std::make_shared<MappedFile>(nullptr, 0);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (address == MAP_FAILED)
    throw Error(ErrorCode::io, "{}: cannot be mapped into memory: {}", path.string(), std::strerror(errno));
  return std::make_shared<MappedFile>(address, size);
}

std::shared_ptr<const Region> static_region(std::span<const std::byte> bytes) {
  return std::make_shared<StaticRegion>(bytes);
}

std::shared_ptr<const Region> memory_region(std::vector<std::byte> bytes) {
  return std::make_shared<MemoryRegion>(std::move(bytes));
}

void release_freed_memory() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace sotto
