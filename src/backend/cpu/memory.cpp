#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/mman.h>

#include "backend/cpu/cpu_types.h"
#include "base/error.h"

namespace sotto::cpu {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;

size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

bool is_mapped(size_t bytes) {
  return bytes >= kHugePage;
}

// Fresh pages from the system, on a border of huge pages.
void* map_zeroed(size_t bytes, AlignedBytes::Pages pages) {
  const size_t length = round_up(bytes, kPage), reserved = length + kHugePage;
  void* base = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(base);
  const size_t before = round_up(address, kHugePage) - address;
  char* aligned = static_cast<char*>(base) + before;
  if (before > 0) munmap(base, before);
  if (reserved - before > length) munmap(aligned + length, reserved - before - length);
  const bool large = pages == AlignedBytes::Pages::large;
  madvise(aligned, length, large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);  // a wish: the memory is good without it
  return aligned;
}

void* allocate_zeroed(size_t bytes, AlignedBytes::Pages pages) {
  if (is_mapped(bytes)) return map_zeroed(bytes, pages);
  void* data = std::aligned_alloc(kAlignment, round_up(bytes, kAlignment));
  if (data != nullptr) std::memset(data, 0, bytes);
  return data;
}

}  // namespace

AlignedBytes::AlignedBytes(size_t bytes, Pages pages) : size_(bytes) {
  if (bytes == 0) return;
  if (bytes <= SIZE_MAX / 2) data_ = allocate_zeroed(bytes, pages);
  if (data_ == nullptr) throw Error(ErrorCode::out_of_memory, "The system refused {} bytes of memory", bytes);
}

AlignedBytes::~AlignedBytes() {
  if (data_ == nullptr) return;
  if (is_mapped(size_)) {
    munmap(data_, round_up(size_, kPage));
  } else {
    std::free(data_);
  }
}

AlignedBytes::AlignedBytes(AlignedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

AlignedBytes& AlignedBytes::operator=(AlignedBytes&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::unique_ptr<Memory> CpuBackend::do_allocate(size_t elements, Precision) {
  return std::make_unique<CpuMemory>(elements);
}

void CpuBackend::do_write(const Rows& to, std::span<const float> from) {
  for (size_t row = 0; row < to.count; ++row)
    std::copy_n(from.data() + row * to.width, to.width, row_data(to, row));
}

void CpuBackend::do_read(const Rows& from, std::span<float> to) {
  for (size_t row = 0; row < from.count; ++row)
    std::copy_n(row_data(from, row), from.width, to.data() + row * from.width);
}

void CpuBackend::do_fill_zero(const Rows& rows) {
  for (size_t row = 0; row < rows.count; ++row) std::fill_n(row_data(rows, row), rows.width, 0.0f);
}

}  // namespace sotto::cpu
