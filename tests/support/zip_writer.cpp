#include "support/zip_writer.h"

#include <zlib.h>

namespace sotto::test {
namespace {

constexpr uint16_t kUtf8Names = 1u << 11, kSizesFollowData = 1u << 3;

}  // namespace

void ZipWriter::add(const std::string& name, std::span<const std::byte> data) {
  const bool torch = layout_ == Layout::torch;
  const auto size = static_cast<uint32_t>(data.size());
  const auto checksum = static_cast<uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(data.data()), size));
  entries_.push_back({name, out_.size(), data.size(), checksum});
  const size_t data_offset = out_.size() + 30 + name.size() + 4;
  const size_t padding = torch ? (64 - data_offset % 64) % 64 : 0;

  out_.put(uint32_t{0x04034b50});
  out_.put(uint16_t{0});
  out_.put(static_cast<uint16_t>(torch ? kUtf8Names | kSizesFollowData : 0));
  out_.put(uint16_t{0});  // stored
  out_.put(uint32_t{0});  // time
  out_.put(torch ? uint32_t{0} : checksum);
  for (int i = 0; i < 2; ++i) out_.put(torch ? uint32_t{0} : size);
  out_.put(static_cast<uint16_t>(name.size()));
  out_.put(static_cast<uint16_t>(torch ? padding + 4 : 0));
  out_.put_text(name);
  if (torch) {
    out_.put_text("FB");
    out_.put(static_cast<uint16_t>(padding));
    out_.put_text(std::string(padding, 'Z'));
  }
  out_.put_bytes(data);
  if (torch) {
    out_.put(uint32_t{0x08074b50});
    out_.put(checksum);
    out_.put(uint64_t{data.size()});
    out_.put(uint64_t{data.size()});
  }
}

WrittenFile ZipWriter::finish() {
  const bool torch = layout_ == Layout::torch;
  const uint64_t directory = out_.size();
  for (const Entry& entry : entries_) {
    out_.put(uint32_t{0x02014b50});
    out_.put(uint32_t{0});  // versions
    out_.put(static_cast<uint16_t>(torch ? kUtf8Names | kSizesFollowData : 0));
    out_.put(uint16_t{0});  // stored
    out_.put(uint32_t{0});  // time
    out_.put(entry.checksum);
    for (int i = 0; i < 2; ++i) out_.put(static_cast<uint32_t>(entry.size));
    out_.put(static_cast<uint16_t>(entry.name.size()));
    out_.put(uint32_t{0});  // no extra field, no comment
    out_.put(uint64_t{0});  // disk and attributes
    out_.put(static_cast<uint32_t>(entry.offset));
    out_.put_text(entry.name);
  }
  const uint64_t size = out_.size() - directory, end64 = out_.size(), count = entries_.size();
  if (torch) {
    out_.put(uint32_t{0x06064b50});
    out_.put(uint64_t{44});
    out_.put(uint32_t{0});  // versions
    out_.put(uint64_t{0});  // disks
    for (const uint64_t value : {count, count, size, directory}) out_.put(value);
    out_.put(uint32_t{0x07064b50});
    out_.put(uint32_t{0});
    out_.put(end64);
    out_.put(uint32_t{1});
  }
  out_.put(uint32_t{0x06054b50});
  out_.put(uint32_t{0});  // disks
  for (int i = 0; i < 2; ++i) out_.put(static_cast<uint16_t>(count));
  out_.put(static_cast<uint32_t>(size));
  out_.put(static_cast<uint32_t>(directory));
  out_.put(uint16_t{0});  // no comment
  return out_.take();
}

}  // namespace sotto::test
