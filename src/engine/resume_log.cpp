#include "engine/resume_log.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"

namespace sotto {
namespace {

using Json = nlohmann::json;

Json to_json(const Word& word) {
  return {{"text", word.text}, {"start", word.start}, {"end", word.end}, {"probability", word.probability}};
}

Json to_json(const Segment& s) {
  Json words = Json::array();
  for (const Word& word : s.words) words.push_back(to_json(word));
  return {{"start", s.start},
          {"end", s.end},
          {"text", s.text},
          {"tokens", s.tokens},
          {"words", words},
          {"language", s.language},
          {"temperature", s.temperature},
          {"logprob", s.average_log_probability},
          {"ratio", s.compression_ratio},
          {"silence", s.no_speech_probability},
          {"language_probability", s.trust.language_probability},
          {"attempts", s.trust.attempts},
          {"uncovered", s.trust.uncovered_speech},
          {"suspect", s.trust.suspect}};
}

Segment segment_from(const Json& json) {
  Segment s;
  json.at("start").get_to(s.start);
  json.at("end").get_to(s.end);
  json.at("text").get_to(s.text);
  json.at("tokens").get_to(s.tokens);
  for (const Json& word : json.at("words"))
    s.words.push_back({word.at("text").get<std::string>(), word.at("start").get<double>(),
                       word.at("end").get<double>(), word.at("probability").get<double>()});
  json.at("language").get_to(s.language);
  json.at("temperature").get_to(s.temperature);
  json.at("logprob").get_to(s.average_log_probability);
  json.at("ratio").get_to(s.compression_ratio);
  json.at("silence").get_to(s.no_speech_probability);
  json.at("language_probability").get_to(s.trust.language_probability);
  json.at("attempts").get_to(s.trust.attempts);
  json.at("uncovered").get_to(s.trust.uncovered_speech);
  json.at("suspect").get_to(s.trust.suspect);
  return s;
}

Json to_json(const ResumePoint& point) {
  Json segments = Json::array();
  for (const Segment& segment : point.segments) segments.push_back(to_json(segment));
  return {{"position", point.position},
          {"context", point.context},
          {"language", point.language},
          {"code", point.language_code},
          {"probability", point.language_probability},
          {"heard", point.windows_heard},
          {"spoken_until", point.last_speech_end},
          {"segments", segments}};
}

// The state of this line, and its segments behind those of the lines before.
void apply_line(const Json& json, ResumePoint& point) {
  ResumePoint next;
  json.at("position").get_to(next.position);
  json.at("context").get_to(next.context);
  json.at("language").get_to(next.language);
  json.at("code").get_to(next.language_code);
  json.at("probability").get_to(next.language_probability);
  json.at("heard").get_to(next.windows_heard);
  json.at("spoken_until").get_to(next.last_speech_end);
  next.segments = std::move(point.segments);
  for (const Json& segment : json.at("segments")) next.segments.push_back(segment_from(segment));
  point = std::move(next);
}

}  // namespace

std::string input_identity(const std::string& path) {
  std::error_code problem;
  const auto absolute = std::filesystem::absolute(path, problem);
  const auto size = std::filesystem::file_size(absolute, problem);
  if (problem) return {};
  const auto time = std::filesystem::last_write_time(absolute, problem);
  return fmt::format("{}\n{}\n{}", absolute.string(), size, time.time_since_epoch().count());
}

ResumeLog::ResumeLog(std::filesystem::path path, std::string fingerprint, bool resume)
    : path_(std::move(path)), fingerprint_(std::move(fingerprint)) {
  if (resume) load();
  std::error_code ignored;
  std::filesystem::create_directories(path_.parent_path(), ignored);
  file_.open(path_, std::ios::binary | std::ios::trunc);
  file_ << Json{{"sotto_resume", 1}, {"fingerprint", fingerprint_}}.dump() << '\n';
  for (const std::string& line : kept_lines_) file_ << line << '\n';
  file_.flush();
  if (!file_)
    log(LogLevel::warning, "{}: cannot be written, so this run cannot be resumed if it is interrupted",
        path_.string());
}

void ResumeLog::load() {
  std::ifstream old(path_, std::ios::binary);
  std::string line;
  if (!std::getline(old, line)) return;
  const Json head = Json::parse(line, nullptr, false);
  if (!head.is_object() || head.value("sotto_resume", 0) != 1 ||
      head.value("fingerprint", "") != fingerprint_) {
    log(LogLevel::warning,
        "the interrupted run had another input, model or options: starting from the beginning");
    return;
  }
  ResumePoint point;
  while (std::getline(old, line)) {
    try {
      apply_line(Json::parse(line), point);
    } catch (const Json::exception&) {
      break;  // cut off while it was written
    }
    kept_lines_.push_back(line);
  }
  if (!kept_lines_.empty()) found_ = std::move(point);
}

void ResumeLog::record(const ResumePoint& point) {
  file_ << to_json(point).dump() << '\n';
  file_.flush();
}

void ResumeLog::remove() noexcept {
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace sotto
