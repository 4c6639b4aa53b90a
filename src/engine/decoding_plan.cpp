#include "engine/decoding_plan.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"

namespace sotto {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    if (const auto item = trimmed(list.substr(0, comma)); !item.empty()) items.push_back(item);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

TokenId language_of(const Tokenizer& tokenizer, std::string_view wanted) {
  const auto code = language_code(wanted);
  if (!code) throw Error(ErrorCode::usage, "'{}' is not a language that Whisper knows", wanted);
  if (!tokenizer.multilingual()) {
    if (*code == "en") return SpecialTokens::none;
    throw Error(ErrorCode::unsupported, "this model understands English only, not '{}'", wanted);
  }
  if (const auto token = tokenizer.language_token(*code)) return *token;
  std::string known;
  for (const auto& language : tokenizer.languages()) known += (known.empty() ? "" : ", ") + language.code;
  throw Error(ErrorCode::unsupported, "this model does not know the language '{}'; it knows {}", wanted,
              known);
}

TokenId task_of(const LoadedModel& model, const std::string& task) {
  const Tokenizer& tokenizer = model.tokenizer();
  if (task == "translate" && !model.can_translate())
    throw Error(
        ErrorCode::unsupported, "the model {} cannot translate: {}", model.name(),
        tokenizer.multilingual() ? "it was trained to transcribe only" : "it understands English only");
  if (!tokenizer.multilingual()) return SpecialTokens::none;
  return task == "translate" ? tokenizer.special().translate : tokenizer.special().transcribe;
}

std::vector<TokenId> suppressed_tokens(const LoadedModel& model, std::string_view list) {
  const Tokenizer& tokenizer = model.tokenizer();
  const SpecialTokens& special = tokenizer.special();
  std::vector<TokenId> tokens;
  for (const std::string_view item : split_list(list)) {
    const auto token = parse<TokenId>(item);
    if (!token || *token < -1 || *token >= tokenizer.size())
      throw Error(ErrorCode::usage,
                  "option 'suppress-tokens' takes token ids below {}, separated by commas, not '{}'",
                  tokenizer.size(), item);
    if (*token >= 0) {
      tokens.push_back(*token);
      continue;
    }
    const auto& own = model.generation().suppress_tokens;
    const auto symbols = own ? *own : tokenizer.non_speech_tokens();
    tokens.insert(tokens.end(), symbols.begin(), symbols.end());
  }
  // The tokens that steer the model never belong into a text.
  const auto language_model = tokenizer.find_special("<|startoflm|>").value_or(SpecialTokens::none);
  for (const TokenId token : {special.start, special.translate, special.transcribe, special.start_of_prompt,
                              special.no_speech, language_model})
    if (token != SpecialTokens::none) tokens.push_back(token);
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  return tokens;
}

std::vector<TokenId> blank_tokens(const LoadedModel& model) {
  if (model.generation().begin_suppress_tokens) return *model.generation().begin_suppress_tokens;
  std::vector<TokenId> tokens = model.tokenizer().encode(" ");
  tokens.push_back(model.tokenizer().special().end);
  return tokens;
}

std::vector<double> temperatures_of(std::string_view list) {
  std::vector<double> temperatures;
  for (const std::string_view item : split_list(list)) {
    const auto value = parse<double>(item);
    if (!value || !(*value >= 0) || *value > 10)
      throw Error(ErrorCode::usage,
                  "option 'temperature' takes numbers from 0 to 10, separated by commas, not '{}'", item);
    temperatures.push_back(*value);
  }
  if (temperatures.empty()) throw Error(ErrorCode::usage, "option 'temperature' needs at least one number");
  return temperatures;
}

std::vector<TokenId> spoken(const Tokenizer& tokenizer, std::string_view text) {
  const std::string_view words = trimmed(text);
  return words.empty() ? std::vector<TokenId>() : tokenizer.encode(" " + std::string(words));
}

void append_tail(std::vector<TokenId>& to, std::span<const TokenId> from, size_t most) {
  const auto tail = from.last(std::min(from.size(), most));
  to.insert(to.end(), tail.begin(), tail.end());
}

}  // namespace

DecodingPlan::DecodingPlan(const LoadedModel& model, const Options& options)
    : tokenizer_(model.tokenizer()), carry_initial_prompt_(options.carry_initial_prompt) {
  const bool automatic = options.language.empty() || options.language == "auto";
  open_language_ = automatic && tokenizer_.multilingual();
  if (!automatic) base_.language = language_of(tokenizer_, options.language);
  for (const std::string_view language : split_list(options.languages))
    base_.allowed_languages.push_back(language_of(tokenizer_, language));
  std::erase(base_.allowed_languages, SpecialTokens::none);  // an English-only model
  base_.task = task_of(model, options.task);

  SearchSettings& search = base_.search;
  search.suppressed = suppressed_tokens(model, options.suppress_tokens);
  if (options.suppress_blank) search.begin_suppressed = blank_tokens(model);
  search.timestamps = !options.without_timestamps;
  search.max_initial_timestamp = static_cast<int>(std::lround(options.max_initial_timestamp * 50));
  search.max_new_tokens = options.max_new_tokens;
  search.beams = options.beam_size;
  search.patience = options.patience;
  search.length_penalty = options.length_penalty;
  search.repetition_penalty = options.repetition_penalty;
  search.no_repeat_ngram = options.no_repeat_ngram_size;
  search.seed = static_cast<uint64_t>(options.seed);
  base_.temperatures = temperatures_of(options.temperature);
  base_.samples = options.best_of;
  base_.compression_ratio_threshold = options.compression_ratio_threshold;
  base_.log_prob_threshold = options.log_prob_threshold;
  base_.no_speech_threshold = options.no_speech_threshold;
  base_.align = options.word_timestamps;
  base_.alignment_heads = model.alignment_heads();

  initial_prompt_ = spoken(tokenizer_, options.initial_prompt);
  hotwords_ = spoken(tokenizer_, options.hotwords);
  prefix_ = spoken(tokenizer_, options.prefix);
  if (!prefix_.empty() && search.timestamps)
    prefix_.insert(prefix_.begin(), tokenizer_.special().first_timestamp);
  prompt_room_ = static_cast<size_t>(model.config().text_positions) / 2 - 1;
  context_room_ = options.max_context < 0 ? prompt_room_ : static_cast<size_t>(options.max_context);
}

std::vector<TokenId> DecodingPlan::opening_context() const {
  return carry_initial_prompt_ ? std::vector<TokenId>() : initial_prompt_;
}

std::vector<TokenId> DecodingPlan::prompt(std::span<const TokenId> context) const {
  std::vector<TokenId> prompt;
  if (carry_initial_prompt_) append_tail(prompt, initial_prompt_, prompt_room_);
  append_tail(prompt, hotwords_, prompt_room_ - prompt.size());
  append_tail(prompt, context, std::min(context_room_, prompt_room_ - prompt.size()));
  return prompt;
}

WindowRequest DecodingPlan::request(std::vector<float> mel, std::span<const TokenId> context,
                                    bool first) const {
  WindowRequest request = base_;
  request.mel = std::move(mel);
  request.search.prompt = prompt(context);
  if (first) request.search.prefix = prefix_;
  return request;
}

}  // namespace sotto
