#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/byte_writer.h"

namespace sotto::test {

// Stored entries as torch.save lays them out: data aligned to 64 bytes by an extra field, sizes behind the
// data and in the directory only, a zip64 end record. The plain layout is what other zip programs write.
class ZipWriter {
 public:
  enum class Layout { torch, plain };
  explicit ZipWriter(Layout layout = Layout::torch) : layout_(layout) {}

  void add(const std::string& name, std::span<const std::byte> data);
  WrittenFile finish();

 private:
  struct Entry {
    std::string name;
    uint64_t offset, size;
    uint32_t checksum;
  };

  Layout layout_;
  ByteWriter out_;
  std::vector<Entry> entries_;
};

}  // namespace sotto::test
