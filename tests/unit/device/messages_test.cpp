// Every finding has words, and every link lands.
#include "device/messages.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::test {
namespace {

using testing::HasSubstr;

constexpr int kCodes = static_cast<int>(FindingCode::probe_unavailable) + 1;  // the last one

// The anchors that GitHub and most other renderers give the headings of a page.
std::set<std::string> anchors_of(const std::string& path) {
  std::ifstream file(path);
  std::set<std::string> anchors;
  for (std::string line; std::getline(file, line);) {
    const size_t text = line.find_first_not_of('#');
    if (text == 0 || text == std::string::npos || line[text] != ' ') continue;
    std::string anchor;
    for (const char c : line.substr(text + 1)) {
      if (c == ' ') anchor += '-';
      if (c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

TEST(Messages, every_finding_has_a_sentence_a_remedy_and_an_id_of_its_own) {
  std::set<std::string_view> ids;
  for (int code = 0; code < kCodes; ++code) {
    const FindingWords& words = words_of(static_cast<FindingCode>(code));
    EXPECT_TRUE(ids.insert(words.id).second) << words.id;
    EXPECT_FALSE(words.sentence.empty());
    EXPECT_NE(words.sentence.back(), '.') << words.id;
    EXPECT_EQ(words.remedy.back(), '.') << words.id;
  }
  EXPECT_EQ(finding_words().size(), static_cast<size_t>(kCodes));
}

TEST(Messages, every_link_lands_on_a_section_of_docs_gpu_md) {
  const auto anchors = anchors_of(SOTTO_SOURCE_DIR "/docs/gpu.md");
  for (const FindingWords& words : finding_words())
    EXPECT_TRUE(anchors.count(std::string(words.id)) == 1) << words.id;
  for (const char* other : {"nvidia", "amd", "vulkan", "slow"})
    EXPECT_TRUE(anchors.count(other) == 1) << other;
}

TEST(Messages, a_finding_is_told_with_subject_detail_remedy_and_link) {
  const std::string text =
      explain({FindingCode::driver_too_old, "GeForce GTX 970", "CUDA 10.1, needed is 11.4"});
  EXPECT_EQ(text,
            "The driver of GeForce GTX 970 is too old: CUDA 10.1, needed is 11.4. Install a newer driver, "
            "restart the "
            "machine, and run sotto devices --refresh. See docs/gpu.md#driver-too-old");
}

TEST(Messages, braces_in_a_driver_s_words_do_no_harm) {
  EXPECT_THAT(finding_sentence({FindingCode::no_driver, "{0} {}", "{oops"}), HasSubstr("{0} {}"));
}

}  // namespace
}  // namespace sotto::test
