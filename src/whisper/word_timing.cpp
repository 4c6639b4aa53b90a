#include "whisper/word_timing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "whisper/time_warping.h"

namespace sotto {
namespace {

constexpr double kSecondsPerPosition = 0.02;  // of the encoder
constexpr size_t kMedianWidth = 7;

// A word on its way: where it is in the window's text tokens, and when it is spoken.
struct AlignedWord {
  std::string text;
  size_t tokens = 0;
  double start = 0, end = 0;
  double probability = 0;
};

bool is_any_of(std::string_view word, std::string_view marks) {
  return !word.empty() && marks.find(word) != std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// Languages that are written without spaces: every character (or what one token spells) is a word of its own.
bool without_spaces(std::string_view language) {
  constexpr std::array<std::string_view, 6> kLanguages{"zh", "ja", "th", "lo", "my", "yue"};
  return std::find(kLanguages.begin(), kLanguages.end(), language) != kLanguages.end();
}

// Whether the bytes end in the middle of a character.
bool ends_inside_character(std::string_view bytes) {
  size_t back = 0;
  while (back < bytes.size() && back < 3 &&
         (static_cast<unsigned char>(bytes[bytes.size() - 1 - back]) & 0xC0) == 0x80)
    ++back;
  if (back >= bytes.size()) return false;
  const auto lead = static_cast<unsigned char>(bytes[bytes.size() - 1 - back]);
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  return length > back + 1;
}

bool begins_with_letter(std::string_view bytes) {
  if (bytes.empty()) return false;
  const auto first = static_cast<unsigned char>(bytes.front());
  return std::isalnum(first) != 0 || first >= 0x80;
}

// Cuts text tokens into words: at spaces and around punctuation, never inside a character.
std::vector<AlignedWord> split_words(const Tokenizer& tokenizer, std::string_view language,
                                     std::span<const TokenId> tokens) {
  constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  const bool every_character = without_spaces(language);
  std::vector<AlignedWord> words;
  size_t begin = 0;
  std::string bytes;
  for (size_t i = 0; i < tokens.size(); ++i) {
    bytes += tokenizer.token_bytes(tokens[i]);
    if (ends_inside_character(bytes) && i + 1 < tokens.size()) continue;
    const std::string piece = tokenizer.decode(tokens.subspan(begin, i + 1 - begin));
    const std::string_view bare = trimmed(piece);
    const bool inner = (piece == "'" || piece == "-") && i + 1 < tokens.size() &&
                       begins_with_letter(tokenizer.token_bytes(tokens[i + 1]));  // o'clock, twenty-five
    const bool punctuation = !inner && bare.size() == 1 && kPunctuation.find(bare) != std::string_view::npos;
    if (words.empty() || every_character || piece.starts_with(' ') || punctuation) words.emplace_back();
    words.back().text += piece;
    words.back().tokens += i + 1 - begin;
    begin = i + 1;
    bytes.clear();
  }
  return words;
}

// Mean over the heads of their normalised, smoothed attention: one row per text token and one for the end,
// negated to be a cost.
std::vector<float> alignment_costs(const Alignment& alignment, size_t first_row, size_t columns) {
  const size_t rows = alignment.rows, kept = rows - 1 - first_row;
  std::vector<float> costs(kept * columns, 0), head(rows * columns);
  for (size_t h = 0; h < alignment.heads; ++h) {
    for (size_t row = 0; row < rows; ++row) {
      const float* weights = alignment.weights.data() + (h * rows + row) * alignment.positions;
      float sum = 0;
      for (size_t c = 0; c < columns; ++c) sum += weights[c];
      const float scale = sum > 0 ? 1 / sum : 0;
      for (size_t c = 0; c < columns; ++c) head[row * columns + c] = weights[c] * scale;
    }
    for (size_t c = 0; c < columns; ++c) {  // over the tokens: what all of them look at tells nothing
      double mean = 0, square = 0;
      for (size_t row = 0; row < rows; ++row) mean += head[row * columns + c];
      mean /= static_cast<double>(rows);
      for (size_t row = 0; row < rows; ++row) square += std::pow(head[row * columns + c] - mean, 2);
      const double deviation = std::sqrt(square / static_cast<double>(rows));
      for (size_t row = 0; row < rows; ++row)
        head[row * columns + c] =
            deviation > 0 ? static_cast<float>((head[row * columns + c] - mean) / deviation) : 0;
    }
    for (size_t row = 0; row < kept; ++row) {
      const auto values = std::span(head).subspan((first_row + row) * columns, columns);
      median_filter(values, kMedianWidth);
      for (size_t c = 0; c < columns; ++c)
        costs[row * columns + c] -= values[c] / static_cast<float>(alignment.heads);
    }
  }
  return costs;
}

double median_duration(std::span<const AlignedWord> words) {
  std::vector<double> durations;
  for (const AlignedWord& word : words)
    if (word.end > word.start) durations.push_back(word.end - word.start);
  if (durations.empty()) return 0;
  std::sort(durations.begin(), durations.end());
  const size_t middle = durations.size() / 2;
  const double median =
      durations.size() % 2 == 1 ? durations[middle] : (durations[middle - 1] + durations[middle]) / 2;
  return std::min(0.7, median);
}

// A word beside the end of a sentence often swallows the pause there.
void shorten_at_sentence_ends(std::vector<AlignedWord>& words, double longest) {
  constexpr std::string_view kEnds = ".。!！?？";
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i].end - words[i].start <= longest) continue;
    if (is_any_of(words[i].text, kEnds)) {
      words[i].end = words[i].start + longest;
    } else if (is_any_of(words[i - 1].text, kEnds)) {
      words[i].start = words[i].end - longest;
    }
  }
}

// Punctuation goes to the word it belongs to; what is left of it is an empty word without tokens.
void merge_punctuation(std::vector<AlignedWord>& words, const WordTimingOptions& options) {
  for (size_t next = words.size(), i = words.size(); i-- > 0;) {
    AlignedWord& word = words[i];
    if (next < words.size() && word.text.starts_with(' ') &&
        is_any_of(trimmed(word.text), options.prepend_punctuations)) {
      words[next].text = word.text + words[next].text;
      words[next].tokens += word.tokens;
      word.text.clear();
      word.tokens = 0;
    } else {
      next = i;
    }
  }
  for (size_t last = 0, i = 1; i < words.size(); ++i) {
    AlignedWord& word = words[i];
    if (!words[last].text.ends_with(' ') && is_any_of(word.text, options.append_punctuations)) {
      words[last].text += word.text;
      words[last].tokens += word.tokens;
      word.text.clear();
      word.tokens = 0;
    } else if (!word.text.empty()) {
      last = i;
    }
  }
}

// The reference's repair of a segment's first words after a pause, which often reach back into it.
void shorten_after_pause(std::vector<TimedWord>& words, double last_speech_end, double median) {
  const double longest = 2 * median;
  TimedWord& first = words.front();
  const bool long_first = first.end - first.start > longest;
  const bool long_pair = words.size() > 1 && words[1].end - first.start > 2 * longest;
  if (first.end - last_speech_end <= 4 * median || (!long_first && !long_pair)) return;
  if (words.size() > 1 && words[1].end - words[1].start > longest) {
    const double border = std::max(words[1].end / 2, words[1].end - longest);
    first.end = words[1].start = border;
  }
  first.start = std::max(0.0, first.end - longest);
}

// Stretches of the window in which nothing is heard.
class QuietStretches {
 public:
  explicit QuietStretches(std::span<const float> loudness) : quiet_(loudness.size()) {
    if (loudness.empty()) return;
    // Quiet is what lies near the softest tenth rather than near the loudest; a window that is all alike has
    // none.
    std::vector<float> sorted(loudness.begin(), loudness.end());
    std::sort(sorted.begin(), sorted.end());
    const float low = sorted[sorted.size() / 10], high = sorted[sorted.size() * 9 / 10];
    constexpr float kShare = 0.25f, kLeastRange = 0.2f;
    if (high - low < kLeastRange) return;
    for (size_t i = 0; i < loudness.size(); ++i) quiet_[i] = loudness[i] < low + kShare * (high - low);
  }

  // A word that begins in a quiet stretch begins at its end, one that ends in one ends at its begin.
  void trim(TimedWord& word) const {
    constexpr double kLeastDuration = 0.04;
    const size_t first = frame(word.start), last = frame(word.end);
    size_t begin = first, end = last;
    while (begin < last && quiet_[begin]) ++begin;
    if (begin == last) return;  // all quiet: nothing to go by
    while (end > begin && quiet_[end - 1]) --end;
    if (begin != first)
      word.start = std::min(static_cast<double>(begin) / kFramesPerSecond, word.end - kLeastDuration);
    if (end != last)
      word.end = std::max(static_cast<double>(end) / kFramesPerSecond, word.start + kLeastDuration);
  }

 private:
  static constexpr double kFramesPerSecond = 100;
  size_t frame(double seconds) const {
    const double at = std::clamp(seconds * kFramesPerSecond, 0.0, static_cast<double>(quiet_.size()));
    return static_cast<size_t>(std::lround(at));
  }
  std::vector<bool> quiet_;
};

// Whatever the repairs did: inside the segment, and never back in time.
void make_monotone(std::vector<TimedWord>& words, const WindowSegment& segment) {
  double now = segment.start;
  for (TimedWord& word : words) {
    word.start = std::clamp(word.start, now, segment.end);
    word.end = std::clamp(word.end, word.start, segment.end);
    now = word.end;
  }
}

// The window's text tokens as words with the times that the warping found.
std::vector<AlignedWord> align_words(const Tokenizer& tokenizer, std::string_view language,
                                     const WordTimingInput& input, std::span<const TokenId> tokens,
                                     size_t columns) {
  const Alignment& alignment = input.alignment;
  std::vector<AlignedWord> words = split_words(tokenizer, language, tokens);
  const size_t first_row = input.start_tokens - 1;  // the row that foretells the first word
  const size_t rows = alignment.rows - 1 - first_row;
  const auto begins = warp_rows(alignment_costs(alignment, first_row, columns), rows, columns);
  size_t token = 0;
  for (AlignedWord& word : words) {
    word.start = static_cast<double>(begins[token]) * kSecondsPerPosition;
    for (size_t i = token; i < token + word.tokens; ++i)
      word.probability += alignment.probabilities[first_row + i];
    word.probability /= static_cast<double>(word.tokens);
    token += word.tokens;
    word.end = static_cast<double>(begins[std::min(token, rows - 1)]) * kSecondsPerPosition;
  }
  return words;
}

}  // namespace

std::vector<std::vector<TimedWord>> time_words(const Tokenizer& tokenizer, std::string_view language,
                                               const WordTimingInput& input, const WordTimingOptions& options,
                                               std::span<const WindowSegment> segments) {
  std::vector<std::vector<TimedWord>> result(segments.size());
  std::vector<size_t> text_tokens;  // of each segment
  std::vector<TokenId> all;
  for (const WindowSegment& segment : segments) {
    const size_t before = all.size();
    for (const TokenId token : segment.tokens)
      if (!tokenizer.is_special(token) && !tokenizer.is_timestamp(token)) all.push_back(token);
    text_tokens.push_back(all.size() - before);
  }
  const size_t columns =
      std::min(static_cast<size_t>(std::max(input.frames / 2, 0)), input.alignment.positions);
  if (all.empty() || columns == 0) return result;

  std::vector<AlignedWord> words = align_words(tokenizer, language, input, all, columns);
  const double median = median_duration(words);
  shorten_at_sentence_ends(words, 2 * median);
  merge_punctuation(words, options);

  const QuietStretches quiet(input.loudness);
  double last_speech_end = input.last_speech_end;
  size_t next = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    for (size_t taken = 0; next < words.size() && taken < text_tokens[i]; ++next) {
      taken += words[next].tokens;
      if (!words[next].text.empty())
        result[i].push_back({words[next].text, words[next].start, words[next].end, words[next].probability});
    }
    if (result[i].empty()) continue;
    shorten_after_pause(result[i], last_speech_end, median);
    for (TimedWord& word : result[i]) quiet.trim(word);
    make_monotone(result[i], segments[i]);
    last_speech_end = segments[i].end;
  }
  return result;
}

}  // namespace sotto
