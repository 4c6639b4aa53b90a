#include "model/zip.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "model/byte_reader.h"

namespace sotto {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50;
constexpr uint32_t kEnd64Locator = 0x07064b50, kEnd64Record = 0x06064b50;
constexpr size_t kEndRecordSize = 22, kEnd64LocatorSize = 20, kMostComment = 0xffff;
constexpr uint32_t kElsewhere32 = 0xffffffff;  // the value is in the zip64 extra field
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kEncrypted = 1u << 0, kSizesFollowData = 1u << 3;

struct Directory {
  uint64_t entries = 0, size = 0, offset = 0;
};

struct CentralEntry {
  std::string_view name;
  uint16_t flags = 0, method = 0;
  uint64_t stored_size = 0, size = 0, header_offset = 0;
};

struct Range {
  uint64_t begin, end;
  std::string_view name;
};

ByteReader reader_at(const NamedBytes& file, uint64_t offset, std::string_view what) {
  const auto bytes = file.region->bytes();
  if (offset > bytes.size())
    throw Error(ErrorCode::bad_model, "{}: {} should be at offset {}, but the file has {} bytes", file.name,
                what, offset, bytes.size());
  return ByteReader(bytes, file.name, static_cast<size_t>(offset));
}

// The end record is the last thing in the file but for a comment whose length it states.
size_t find_end_record(const NamedBytes& file) {
  const auto bytes = file.region->bytes();
  for (size_t comment = 0; comment <= kMostComment && comment + kEndRecordSize <= bytes.size(); ++comment) {
    const size_t offset = bytes.size() - kEndRecordSize - comment;
    if (as_text(bytes).substr(offset, 4) != "PK\x05\x06") continue;
    ByteReader in(bytes, file.name, offset + kEndRecordSize - 2);
    if (in.read<uint16_t>("the length of the comment") == comment) return offset;
  }
  throw Error(ErrorCode::bad_model,
              "{}: the directory of the zip archive is missing: the file is cut off or damaged", file.name);
}

std::optional<Directory> read_directory64(const NamedBytes& file, size_t end_record) {
  if (end_record < kEnd64LocatorSize) return std::nullopt;
  ByteReader locator(file.region->bytes(), file.name, end_record - kEnd64LocatorSize);
  if (locator.read<uint32_t>("signature") != kEnd64Locator) return std::nullopt;
  locator.read<uint32_t>("disk");
  ByteReader in = reader_at(file, locator.read<uint64_t>("the zip64 offset"), "the zip64 end record");
  if (in.read<uint32_t>("signature") != kEnd64Record) in.fail("the zip64 end record is not here");
  in.take(8 + 2 + 2 + 4 + 4 + 8, "the zip64 end record");
  Directory directory;
  directory.entries = in.read<uint64_t>("the number of entries");
  directory.size = in.read<uint64_t>("the size of the directory");
  directory.offset = in.read<uint64_t>("the offset of the directory");
  return directory;
}

Directory read_directory(const NamedBytes& file, size_t end_record) {
  if (const auto directory = read_directory64(file, end_record)) return *directory;
  ByteReader in(file.region->bytes(), file.name, end_record + 4);
  in.take(2 + 2 + 2, "disk numbers");
  Directory directory;
  directory.entries = in.read<uint16_t>("the number of entries");
  directory.size = in.read<uint32_t>("the size of the directory");
  directory.offset = in.read<uint32_t>("the offset of the directory");
  return directory;
}

// Sizes and offsets that do not fit into 32 bits follow in this order in the zip64 field, each only where
// needed.
void read_zip64_field(ByteReader extra, CentralEntry& entry) {
  while (extra.remaining() >= 4) {
    const auto id = extra.read<uint16_t>("an extra field");
    const auto length = extra.read<uint16_t>("an extra field");
    const auto content = extra.take(length, "an extra field");
    if (id != kZip64Field) continue;
    ByteReader in(content, extra.file());
    for (uint64_t* value : {&entry.size, &entry.stored_size, &entry.header_offset})
      if (*value == kElsewhere32) *value = in.read<uint64_t>("a zip64 value");
    return;
  }
}

CentralEntry read_central_entry(ByteReader& in) {
  if (in.read<uint32_t>("a directory entry") != kCentralHeader)
    in.fail("the zip directory has no entry here");
  CentralEntry entry;
  in.take(2 + 2, "versions");
  entry.flags = in.read<uint16_t>("flags");
  entry.method = in.read<uint16_t>("method");
  in.take(2 + 2 + 4, "time and checksum");
  entry.stored_size = in.read<uint32_t>("the stored size");
  entry.size = in.read<uint32_t>("the size");
  const auto name_length = in.read<uint16_t>("the length of a name");
  const auto extra_length = in.read<uint16_t>("the length of an extra field");
  const auto comment_length = in.read<uint16_t>("the length of a comment");
  in.take(2 + 2 + 4, "attributes");
  entry.header_offset = in.read<uint32_t>("the offset of an entry");
  entry.name = in.take_text(name_length, "an entry's name");
  read_zip64_field(ByteReader(in.take(extra_length, "an extra field"), in.file()), entry);
  in.take(comment_length, "a comment");
  return entry;
}

void require_stored(const ByteReader& in, const CentralEntry& entry) {
  if ((entry.flags & kEncrypted) != 0) in.fail("entry '{}' is encrypted", printable(entry.name));
  if (entry.method != 0) in.fail("entry '{}' is compressed, which PyTorch never does", printable(entry.name));
  if (entry.stored_size != entry.size)
    in.fail("entry '{}' has {} bytes stored as {}", printable(entry.name), entry.size, entry.stored_size);
}

// The entry's bytes, by its own header, which must tell the same story as the directory.
std::span<const std::byte> locate(const NamedBytes& file, const CentralEntry& entry) {
  ByteReader in = reader_at(file, entry.header_offset, "an entry's header");
  if (in.read<uint32_t>("an entry's header") != kLocalHeader)
    in.fail("entry '{}' does not begin here", printable(entry.name));
  in.take(2, "version");
  const auto flags = in.read<uint16_t>("flags");
  const auto method = in.read<uint16_t>("method");
  in.take(2 + 2 + 4, "time and checksum");
  const auto stored_size = in.read<uint32_t>("the stored size");
  const auto size = in.read<uint32_t>("the size");
  const auto name_length = in.read<uint16_t>("the length of a name");
  const auto extra_length = in.read<uint16_t>("the length of an extra field");
  const auto name = in.take_text(name_length, "an entry's name");
  if (name != entry.name || method != entry.method || (flags & kEncrypted) != 0)
    in.fail("entry '{}' differs from what the directory says", printable(entry.name));
  const bool sizes_elsewhere = (flags & kSizesFollowData) != 0 || size == kElsewhere32;
  if (!sizes_elsewhere && (size != entry.size || stored_size != entry.stored_size))
    in.fail("entry '{}' has {} bytes here and {} in the directory", printable(entry.name), size, entry.size);
  in.take(extra_length, "an extra field");
  return in.take(entry.size, "an entry");
}

void require_apart(const NamedBytes& file, std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end)
      throw Error(ErrorCode::bad_model, "{}: at offset {}: '{}' overlaps '{}'", file.name, ranges[i].begin,
                  printable(ranges[i].name), printable(ranges[i - 1].name));
}

}  // namespace

ZipEntries read_zip(const NamedBytes& file) {
  const auto bytes = file.region->bytes();
  const Directory directory = read_directory(file, find_end_record(file));
  ByteReader whole = reader_at(file, directory.offset, "the directory");
  const auto listing = whole.take(directory.size, "the directory");
  ByteReader in(bytes.first(whole.offset()), file.name, whole.offset() - listing.size());

  ZipEntries entries;
  std::vector<Range> ranges = {{directory.offset, directory.offset + directory.size, "the directory"}};
  for (uint64_t i = 0; i < directory.entries; ++i) {
    const CentralEntry entry = read_central_entry(in);
    require_stored(in, entry);
    const auto data = locate(file, entry);
    const auto data_end = static_cast<uint64_t>(data.data() - bytes.data()) + data.size();
    ranges.push_back({entry.header_offset, data_end, entry.name});
    if (!entries.emplace(entry.name, data).second) in.fail("entry '{}' occurs twice", printable(entry.name));
  }
  if (in.remaining() > 0) in.fail("the directory holds more than its {} entries", directory.entries);
  require_apart(file, ranges);
  return entries;
}

}  // namespace sotto
