#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "output/times.h"
#include "output/writers.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

// Invalid UTF-8 becomes U+FFFD, and numbers that JSON cannot hold become null (which is nlohmann's rule).
std::string compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json time_value(double seconds) {
  if (!std::isfinite(seconds)) return nullptr;
  return static_cast<double>(to_milliseconds(seconds)) / 1000;
}

// std::max keeps the end when one of the two is not a number.
Json end_value(double start, double end) {
  return time_value(std::max(end, start));
}

Json word_value(const Word& word) {
  return Json{{"word", word.text},
              {"start", time_value(word.start)},
              {"end", end_value(word.start, word.end)},
              {"probability", word.probability}};
}

Json trust_value(const Trust& trust) {
  return Json{{"language_probability", trust.language_probability},
              {"attempts", trust.attempts},
              {"uncovered_speech", time_value(trust.uncovered_speech)},
              {"suspect", !trust.suspect.empty()},
              {"reason", trust.suspect.empty() ? Json(nullptr) : Json(trust.suspect)}};
}

Json segment_value(const Segment& segment) {
  Json value{{"id", segment.id},
             {"start", time_value(segment.start)},
             {"end", end_value(segment.start, segment.end)},
             {"text", segment.text},
             {"language", segment.language},
             {"tokens", segment.tokens},
             {"temperature", segment.temperature},
             {"avg_logprob", segment.average_log_probability},
             {"compression_ratio", segment.compression_ratio},
             {"no_speech_prob", segment.no_speech_probability}};
  if (!segment.words.empty()) {
    Json& words = value["words"] = Json::array();
    for (const Word& word : segment.words) words.push_back(word_value(word));
  }
  value["trust"] = trust_value(segment.trust);
  return value;
}

Json pairs_value(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json value = Json::object();
  for (const auto& [name, text] : pairs) value[name] = text;
  return value;
}

Json note_value(const AudioNote& note) {
  return Json{
      {"start", time_value(note.start)}, {"end", end_value(note.start, note.end)}, {"text", note.text}};
}

std::string whole_text(const Transcript& transcript) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::string text;
  for (const Segment& segment : transcript.segments) text += segment.text;
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// Writes one member a line and, in lists, one item a line: short enough to be read, and the items are turned
// into text one by one, so that a day of speech needs no second copy in memory.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::ostream& out) : out_(out) { out_ << '{'; }

  void member(const char* name, const Json& value) {
    begin(name);
    out_ << compact(value);
  }

  template <class Item>
  void list(const char* name, const std::vector<Item>& items, Json (*value)(const Item&)) {
    begin(name);
    out_ << '[';
    for (size_t i = 0; i < items.size(); ++i)
      out_ << (i == 0 ? "\n    " : ",\n    ") << compact(value(items[i]));
    out_ << (items.empty() ? "]" : "\n  ]");
  }

  void end() { out_ << "\n}\n"; }

 private:
  void begin(const char* name) {
    out_ << (first_ ? "\n  \"" : ",\n  \"") << name << "\": ";
    first_ = false;
  }

  std::ostream& out_;
  bool first_ = true;
};

}  // namespace

void write_json(std::ostream& out, const Transcript& transcript, const LineRules& /*rules*/) {
  ObjectWriter object(out);
  object.member("text", whole_text(transcript));
  object.member("language", transcript.language);
  object.member("language_probability", transcript.language_probability);
  object.member("duration", time_value(transcript.duration));
  object.member("task", transcript.task);
  object.member("model", transcript.model);
  object.member("model_hash", transcript.model_hash);
  object.member("version", transcript.version);
  object.member("device", transcript.device);
  object.member("compute_type", transcript.compute_type);
  if (!transcript.device_record.empty())
    object.member("device_record", pairs_value(transcript.device_record));
  object.member("options", pairs_value(transcript.options));
  object.list("segments", transcript.segments, segment_value);
  object.list("damage", transcript.damage, note_value);
  object.member("complete", transcript.complete);
  object.member("file", transcript.file);
  object.end();
}

}  // namespace sotto
