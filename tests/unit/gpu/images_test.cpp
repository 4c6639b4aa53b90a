// What the compilers made: every image holds every kernel that the backend may ask for, in a form that the
// drivers it is meant for can take.
#include "backend/gpu/images.h"

#include <charconv>
#include <cstring>
#include <set>
#include <string>

#include <elf.h>
#include <gtest/gtest.h>

#include "backend/gpu/kernel_names.h"

namespace sotto::gpu {
namespace {

class EveryImage : public testing::TestWithParam<Image> {
 protected:
  std::string_view text() const {
    return {reinterpret_cast<const char*>(GetParam().begin), GetParam().bytes().size()};
  }
};

// The names of all symbols of an ELF file; empty for anything else.
std::set<std::string> elf_symbols(std::string_view file) {
  std::set<std::string> names;
  const auto read = [&]<class T>(T& value, size_t at) {
    if (at + sizeof(T) > file.size()) return false;
    std::memcpy(&value, file.data() + at, sizeof(T));
    return true;
  };
  Elf64_Ehdr header{};
  if (file.substr(0, SELFMAG) != ELFMAG || !read(header, 0)) return names;
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{}, strings{};
    if (!read(section, header.e_shoff + i * sizeof section) || section.sh_type != SHT_SYMTAB) continue;
    if (!read(strings, header.e_shoff + section.sh_link * sizeof strings)) continue;
    for (size_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      if (read(symbol, at) && strings.sh_offset + symbol.st_name < file.size())
        names.insert(file.data() + strings.sh_offset + symbol.st_name);
    }
  }
  return names;
}

// 75 from "\n.version 7.5\n".
int ptx_version(std::string_view text) {
  constexpr std::string_view kWord = "\n.version ";
  const size_t at = text.find(kWord);
  if (at == std::string_view::npos) return 0;
  int major = 0, minor = 0;
  const char* end = text.data() + text.size();
  const auto [dot, failed] = std::from_chars(text.data() + at + kWord.size(), end, major);
  if (failed == std::errc() && dot != end) std::from_chars(dot + 1, end, minor);
  return major * 10 + minor;
}

TEST_P(EveryImage, HoldsEveryKernelThatTheBackendMayAskFor) {
  const Image& image = GetParam();
  const std::set<std::string> symbols = elf_symbols(text());
  for (const std::string& name : kernel_names(image.path)) {
    const bool there = image.form == Image::Form::ptx
                           ? text().find(".entry " + name + "(") != std::string_view::npos
                           : symbols.contains(name);
    EXPECT_TRUE(there) << name;
  }
  EXPECT_FALSE(kernel_names(image.path).empty());
}

TEST_P(EveryImage, IsOfAFormThatItsDriversKnow) {
  const Image& image = GetParam();
  if (image.form != Image::Form::ptx) {
    EXPECT_EQ(text().substr(0, SELFMAG), ELFMAG);
    return;
  }
  // CUDA 11.5 brought PTX 7.5, 12.0 brought 8.0, and each version after that one more.
  constexpr int kOldestPtx = 75;
  const int version = ptx_version(text());
  const int known = 80 + (image.minimum_driver / 1000 - 12) * 10 + image.minimum_driver % 1000 / 10;
  EXPECT_GE(version, kOldestPtx);
  EXPECT_LE(version, known) << "minimum driver " << image.minimum_driver;
  EXPECT_NE(text().find("\n.target " + std::string(image.architecture)), std::string_view::npos);
  EXPECT_EQ(*image.end, std::byte{0});
}

std::string name_of(const testing::TestParamInfo<Image>& info) {
  std::string name(info.param.name);
  std::string kept(path_name(info.param.path));
  kept += '_';
  for (const char c : name) kept += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return kept;
}

INSTANTIATE_TEST_SUITE_P(All, EveryImage, testing::ValuesIn(images().begin(), images().end()), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryImage);  // a build without the compilers has none

TEST(Images, AreThereForWhateverCompilersTheBuildFound) {
  if (images().empty()) GTEST_SKIP() << "this build has neither nvcc nor clang 15";
  for (const Image& image : images()) EXPECT_GT(image.bytes().size(), 1000u) << image.name;
}

}  // namespace
}  // namespace sotto::gpu
