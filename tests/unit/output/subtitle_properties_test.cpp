// What holds for every transcript, tried on many random ones.
#include <algorithm>
#include <random>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "output/subtitle_cues.h"
#include "sample_transcript.h"

namespace sotto {
namespace {

constexpr int64_t kGap = 80, kShortest = 700;  // milliseconds, as documented

class RandomTranscript {
 public:
  explicit RandomTranscript(unsigned seed) : random_(seed) {}

  Transcript make() {
    Transcript transcript;
    double time = number(0, 3);
    for (int count = integer(1, 12); count > 0; --count) transcript.segments.push_back(segment(time));
    if (integer(0, 1) == 1) transcript.duration = std::max(time, 0.0) + number(0, 5);
    return transcript;
  }

  LineRules rules() {
    return {.max_line_width = integer(0, 3) == 0 ? integer(1, 12) : integer(20, 60),
            .max_lines = integer(1, 4),
            .max_cps = number(5, 40)};
  }

 private:
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  double number(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

  std::string word() {
    static const std::string kLetters[] = {"a",  "e",  "n",  "t", "é", "ß", "ж",
                                           "日", "本", "ん", "-", "<", "{", "\\"};
    static const std::string kEnds[] = {"", "", "", "", ",", ".", "!", "?\"", ";", "…", "。", " -"};
    std::string text = integer(0, 8) == 0 ? "" : " ";
    for (int count = integer(0, 30) == 0 ? integer(40, 120) : integer(1, 9); count > 0; --count)
      text += kLetters[static_cast<size_t>(integer(0, 13))];
    return text + kEnds[static_cast<size_t>(integer(0, 11))];
  }

  Segment segment(double& time) {
    time += integer(0, 9) == 0 ? number(-4, 0) : number(0, 1.5) * integer(0, 1);
    Segment made{.start = time};
    const bool timed = integer(0, 2) > 0;
    for (int count = integer(0, 60); count > 0; --count) {
      Word next{.text = word(), .start = time};
      time += number(0, 0.5) * integer(0, 3);
      next.end = time;
      time += integer(0, 9) == 0 ? number(0, 2) : 0;
      made.text += next.text;
      if (timed) made.words.push_back(std::move(next));
    }
    made.end = time;
    return made;
  }

  std::mt19937 random_;
};

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

int characters_in(std::string_view text) {
  int count = 0;
  for (; !text.empty(); text.remove_prefix(first_utf8_character(text).size)) ++count;
  return count;
}

class SubtitleProperties : public testing::TestWithParam<unsigned> {
 protected:
  SubtitleProperties() : random_(GetParam()), transcript_(random_.make()), rules_(random_.rules()) {
    cues_ = subtitle_cues(transcript_, rules_);
  }

  // The latest end that leaves room for the gap to what follows.
  int64_t limit(size_t index) const {
    if (index + 1 == cues_.size())
      return transcript_.duration > 0 ? static_cast<int64_t>(transcript_.duration * 1000)
                                      : cues_[index].end + 1;
    const int64_t room = cues_[index + 1].start - cues_[index].start;
    return cues_[index + 1].start - std::min(kGap, room / 4);
  }

  RandomTranscript random_;
  Transcript transcript_;
  LineRules rules_;
  std::vector<Cue> cues_;
};

TEST_P(SubtitleProperties, LinesFollowTheRules) {
  for (const Cue& cue : cues_) {
    EXPECT_GE(cue.lines.size(), 1u);
    EXPECT_LE(cue.lines.size(), static_cast<size_t>(rules_.max_lines));
    for (const std::string& line : cue.lines) {
      EXPECT_LE(characters_in(line), rules_.max_line_width) << line;
      EXPECT_FALSE(line.empty() || line.front() == ' ' || line.back() == ' ') << '"' << line << '"';
    }
  }
}

TEST_P(SubtitleProperties, TextIsThereOnceAndInOrder) {
  std::string shown, spoken;
  for (const Cue& cue : cues_)
    for (const std::string& line : cue.lines) shown += line;
  for (const Segment& segment : transcript_.segments) spoken += segment.text;
  EXPECT_EQ(without_spaces(shown), without_spaces(spoken));
}

TEST_P(SubtitleProperties, NoWordIsDividedThatFitsALine) {
  const std::string text = "alpha beta gamma delta epsilon zeta eta theta iota kappa";
  const LineRules rules{.max_line_width = std::max(rules_.max_line_width, 7), .max_lines = rules_.max_lines};
  std::string shown;
  for (const Cue& cue : subtitle_cues(transcript_of(text, 0, 5), rules))
    for (const std::string& line : cue.lines) shown += (shown.empty() ? "" : " ") + line;
  EXPECT_EQ(shown, text);
}

TEST_P(SubtitleProperties, TimesRiseWithoutOverlap) {
  int64_t free_from = 0;
  for (const Cue& cue : cues_) {
    EXPECT_GE(cue.start, free_from);
    EXPECT_GT(cue.end, cue.start);
    free_from = cue.end;
  }
}

TEST_P(SubtitleProperties, CuesEndWithAGapWhereThereIsTime) {
  for (size_t i = 0; i + 1 < cues_.size(); ++i)
    if (cues_[i + 1].start - cues_[i].start >= 4 * kGap) {
      EXPECT_GE(cues_[i + 1].start - cues_[i].end, kGap);
    }
}

TEST_P(SubtitleProperties, OnlyWhatFollowsMakesACueTooShortOrTooFast) {
  for (size_t i = 0; i < cues_.size(); ++i) {
    const auto length = static_cast<double>(cues_[i].end - cues_[i].start);
    const bool readable =
        length >= kShortest && cues_[i].characters() * 1000.0 <= rules_.max_cps * length + 1e-6;
    EXPECT_TRUE(readable || cues_[i].end >= limit(i)) << "cue " << i;
  }
}

TEST_P(SubtitleProperties, WordsRiseWithinTheirCue) {
  for (const Cue& cue : cues_) {
    int64_t earliest = cue.start;
    for (const CueWord& word : cue.words) {
      EXPECT_GE(word.start, earliest);
      EXPECT_GE(word.end, word.start);
      EXPECT_LE(word.end, cue.end);
      EXPECT_LE(word.offset + word.size, cue.lines.at(word.line).size());
      earliest = word.end;
    }
  }
}

TEST_P(SubtitleProperties, HighlightingShowsTheSameTextAndNeverOverlaps) {
  rules_.highlight_words = true;
  const std::string srt = written("srt", transcript_, rules_);
  const std::regex times(R"((\d+):(\d\d):(\d\d),(\d{3}) --> (\d+):(\d\d):(\d\d),(\d{3}))");
  const auto milliseconds = [](const std::smatch& match, size_t at) {
    return ((std::stoll(match[at]) * 60 + std::stoll(match[at + 1])) * 60 + std::stoll(match[at + 2])) *
               1000 +
           std::stoll(match[at + 3]);
  };
  int64_t free_from = 0;
  for (std::sregex_iterator match(srt.begin(), srt.end(), times), none; match != none; ++match) {
    EXPECT_GE(milliseconds(*match, 1), free_from);
    EXPECT_GT(milliseconds(*match, 5), milliseconds(*match, 1));
    free_from = milliseconds(*match, 5);
  }
  for (const Cue& cue : cues_) {
    if (cue.end - cue.start < static_cast<int64_t>(cue.words.size())) continue;
    const std::string first = cue.lines.front().substr(0, cue.words.empty() ? 0 : cue.words[0].size);
    EXPECT_TRUE(cue.words.empty() || srt.find("<u>" + first + "</u>") != srt.npos) << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SubtitleProperties, testing::Range(0u, 300u));

}  // namespace
}  // namespace sotto
