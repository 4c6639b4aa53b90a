#include "model/zip.h"

#include <gmock/gmock.h>

#include "model/byte_reader.h"
#include "support/checkpoint_tools.h"
#include "support/zip_writer.h"

namespace sotto::test {
namespace {

using ::testing::HasSubstr;
using Layout = ZipWriter::Layout;

WrittenFile two_entries(Layout layout) {
  ZipWriter zip(layout);
  zip.add("a/one", to_bytes("first"));
  zip.add("a/two", to_bytes("second one"));
  return zip.finish();
}

ZipEntries entries_of(const std::vector<std::byte>& bytes) {
  static std::shared_ptr<const Region> region;  // the entries point into it
  region = memory_region(bytes);
  return read_zip({"x.pt", region});
}

std::string read_error(const std::vector<std::byte>& bytes) {
  return error_of([&] { entries_of(bytes); });
}

// The place of the nth header with this signature's third and fourth byte ("\x03\x04", "\x01\x02").
size_t header(const std::vector<std::byte>& bytes, std::string_view kind, int nth = 0) {
  const std::string signature = "PK" + std::string(kind);
  size_t at = as_text(bytes).find(signature);
  for (; nth > 0; --nth) at = as_text(bytes).find(signature, at + 1);
  return at;
}
constexpr const char* kLocal = "\x03\x04";
constexpr const char* kCentral = "\x01\x02";
constexpr const char* kEnd = "\x05\x06";

template <class Number>
std::vector<std::byte> patched(std::vector<std::byte> bytes, size_t offset, Number value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

TEST(Zip, ReadsBothLayouts) {
  for (const Layout layout : {Layout::torch, Layout::plain}) {
    const ZipEntries entries = entries_of(two_entries(layout).bytes);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(as_text(entries.at("a/one")), "first");
    EXPECT_EQ(as_text(entries.at("a/two")), "second one");
  }
}

TEST(Zip, ReadsAnArchiveWithAComment) {
  auto bytes = two_entries(Layout::plain).bytes;
  const auto comment = to_bytes("PK\x05\x06 is not the end");
  bytes = patched(bytes, bytes.size() - 2, static_cast<uint16_t>(comment.size()));
  bytes.insert(bytes.end(), comment.begin(), comment.end());
  EXPECT_EQ(entries_of(bytes).size(), 2u);
}

TEST(Zip, CutAtAnyBoundaryIsAnError) {
  for (const Layout layout : {Layout::torch, Layout::plain}) {
    const WrittenFile file = two_entries(layout);
    for (size_t length = 0; length < file.bytes.size(); ++length)
      ASSERT_THAT(read_error({file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(length)}),
                  ::testing::StartsWith("x.pt: "));
  }
}

TEST(Zip, RefusesCompressedAndEncryptedEntries) {
  const auto good = two_entries(Layout::plain).bytes;
  EXPECT_THAT(read_error(patched(good, header(good, kCentral) + 10, uint16_t{8})), HasSubstr("compressed"));
  EXPECT_THAT(read_error(patched(good, header(good, kCentral) + 8, uint16_t{1})), HasSubstr("encrypted"));
  EXPECT_THAT(read_error(patched(good, header(good, kLocal) + 6, uint16_t{1})), HasSubstr("differs"));
  EXPECT_THAT(read_error(patched(good, header(good, kLocal) + 8, uint16_t{8})), HasSubstr("differs"));
}

TEST(Zip, RefusesADirectoryThatDisagrees) {
  const auto good = two_entries(Layout::plain).bytes;
  const size_t central = header(good, kCentral), local = header(good, kLocal);
  EXPECT_THAT(read_error(patched(good, local + 18, uint32_t{4})), HasSubstr("in the directory"));
  EXPECT_THAT(read_error(patched(good, local + 30, 'b')), HasSubstr("differs"));
  EXPECT_THAT(read_error(patched(good, central + 24, uint32_t{4})), HasSubstr("stored as"));
  EXPECT_THAT(read_error(patched(good, central + 42, uint32_t{1})), HasSubstr("does not begin here"));
  EXPECT_THAT(read_error(patched(good, central + 42, uint32_t{0xfffffff0})),
              HasSubstr("should be at offset"));
  EXPECT_THAT(read_error(patched(good, header(good, kEnd) + 10, uint16_t{3})), HasSubstr("needs 4 bytes"));
  EXPECT_THAT(read_error(patched(good, header(good, kEnd) + 10, uint16_t{1})), HasSubstr("more than its 1"));
  EXPECT_THAT(read_error(patched(good, header(good, kEnd) + 12, uint32_t{0xfffffff0})),
              HasSubstr("the directory needs"));
}

TEST(Zip, RefusesOverlapsAndDuplicates) {
  auto bytes = two_entries(Layout::torch).bytes;
  const size_t first = header(bytes, kCentral), second = header(bytes, kCentral, 1);
  auto overlapping = bytes;  // an entry whose size reaches into the next
  for (const size_t field : {20, 24}) overlapping = patched(overlapping, first + field, uint32_t{80});
  EXPECT_THAT(read_error(overlapping), HasSubstr("overlaps"));
  auto twice = bytes;  // both directory entries mean the first
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), second - first,
              twice.begin() + static_cast<std::ptrdiff_t>(second));
  EXPECT_THAT(read_error(twice), HasSubstr("occurs twice"));
}

TEST(Zip, ReadsSizesFromTheZip64Field) {
  const auto good = two_entries(Layout::plain).bytes;
  const size_t central = header(good, kCentral);
  auto bytes = patched(good, central + 20, uint32_t{0xffffffff});
  bytes = patched(bytes, central + 24, uint32_t{0xffffffff});
  bytes = patched(bytes, central + 30, uint16_t{20});
  ByteWriter field;
  field.put(uint16_t{1});
  field.put(uint16_t{16});
  field.put(uint64_t{5});
  field.put(uint64_t{5});
  const auto extra = field.take().bytes;
  bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(central + 46 + 5), extra.begin(), extra.end());
  const size_t end = header(bytes, kEnd);
  uint32_t size = 0;
  std::memcpy(&size, bytes.data() + end + 12, sizeof(size));
  bytes = patched(bytes, end + 12, static_cast<uint32_t>(size + extra.size()));
  EXPECT_EQ(as_text(entries_of(bytes).at("a/one")), "first");
  EXPECT_THAT(read_error(patched(bytes, central + 46 + 5 + 4, uint64_t{1} << 63)), HasSubstr("stored as"));
}

}  // namespace
}  // namespace sotto::test
