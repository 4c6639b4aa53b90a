#include "platform/mapped_file.h"

#include <malloc.h>

#include "base/error.h"
#include "platform/windows/wide_text.h"

namespace sotto {
namespace {

using windows::Handle;

class MappedFile final : public Region {
 public:
  MappedFile(void* address, size_t size) : address_(address), size_(size) {}
  ~MappedFile() override {
    if (size_ > 0) UnmapViewOfFile(address_);
  }

  std::span<const std::byte> bytes() const noexcept override {
    return {static_cast<const std::byte*>(address_), size_};
  }

  void release(std::span<const std::byte> part) const noexcept override {
    // Unlocking pages that are not locked takes them out of the working set; they are read again when needed.
    if (!part.empty()) VirtualUnlock(const_cast<std::byte*>(part.data()), part.size());
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

}  // namespace

std::shared_ptr<const Region> map_file(const std::filesystem::path& path) {
  const Handle file(CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ, nullptr, OPEN_EXISTING,
                                FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file)
    throw Error(ErrorCode::io, "{}: cannot be opened: {}", path.string(), windows::last_error_text());
  if (GetFileType(file.get()) != FILE_TYPE_DISK)
    throw Error(ErrorCode::io, "{}: is not a regular file", path.string());
  LARGE_INTEGER size{};
  if (GetFileSizeEx(file.get(), &size) == 0)
    throw Error(ErrorCode::io, "{}: cannot be examined: {}", path.string(), windows::last_error_text());
  if (size.QuadPart == 0) return std::make_shared<MappedFile>(nullptr, 0);
  const Handle mapping(CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  void* address = mapping ? MapViewOfFile(mapping.get(), FILE_MAP_READ, 0, 0, 0) : nullptr;
  if (address == nullptr)
    throw Error(ErrorCode::io, "{}: cannot be mapped into memory: {}", path.string(),
                windows::last_error_text());
  return std::make_shared<MappedFile>(address, static_cast<size_t>(size.QuadPart));
}

std::shared_ptr<const Region> static_region(std::span<const std::byte> bytes) {
  return std::make_shared<StaticRegion>(bytes);
}

std::shared_ptr<const Region> memory_region(std::vector<std::byte> bytes) {
  return std::make_shared<MemoryRegion>(std::move(bytes));
}

void release_freed_memory() noexcept {
  _heapmin();
}

}  // namespace sotto
