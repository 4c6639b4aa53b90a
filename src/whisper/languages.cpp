#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "whisper/tokenizer.h"

namespace sotto {
namespace {

constexpr NamedLanguage kLanguages[] = {
    {"af", "afrikaans"},      {"am", "amharic"},     {"ar", "arabic"},
    {"as", "assamese"},       {"az", "azerbaijani"}, {"ba", "bashkir"},
    {"be", "belarusian"},     {"bg", "bulgarian"},   {"bn", "bengali"},
    {"bo", "tibetan"},        {"br", "breton"},      {"bs", "bosnian"},
    {"ca", "catalan"},        {"cs", "czech"},       {"cy", "welsh"},
    {"da", "danish"},         {"de", "german"},      {"el", "greek"},
    {"en", "english"},        {"es", "spanish"},     {"et", "estonian"},
    {"eu", "basque"},         {"fa", "persian"},     {"fi", "finnish"},
    {"fo", "faroese"},        {"fr", "french"},      {"gl", "galician"},
    {"gu", "gujarati"},       {"ha", "hausa"},       {"haw", "hawaiian"},
    {"he", "hebrew"},         {"hi", "hindi"},       {"hr", "croatian"},
    {"ht", "haitian creole"}, {"hu", "hungarian"},   {"hy", "armenian"},
    {"id", "indonesian"},     {"is", "icelandic"},   {"it", "italian"},
    {"ja", "japanese"},       {"jw", "javanese"},    {"ka", "georgian"},
    {"kk", "kazakh"},         {"km", "khmer"},       {"kn", "kannada"},
    {"ko", "korean"},         {"la", "latin"},       {"lb", "luxembourgish"},
    {"ln", "lingala"},        {"lo", "lao"},         {"lt", "lithuanian"},
    {"lv", "latvian"},        {"mg", "malagasy"},    {"mi", "maori"},
    {"mk", "macedonian"},     {"ml", "malayalam"},   {"mn", "mongolian"},
    {"mr", "marathi"},        {"ms", "malay"},       {"mt", "maltese"},
    {"my", "myanmar"},        {"ne", "nepali"},      {"nl", "dutch"},
    {"nn", "nynorsk"},        {"no", "norwegian"},   {"oc", "occitan"},
    {"pa", "punjabi"},        {"pl", "polish"},      {"ps", "pashto"},
    {"pt", "portuguese"},     {"ro", "romanian"},    {"ru", "russian"},
    {"sa", "sanskrit"},       {"sd", "sindhi"},      {"si", "sinhala"},
    {"sk", "slovak"},         {"sl", "slovenian"},   {"sn", "shona"},
    {"so", "somali"},         {"sq", "albanian"},    {"sr", "serbian"},
    {"su", "sundanese"},      {"sv", "swedish"},     {"sw", "swahili"},
    {"ta", "tamil"},          {"te", "telugu"},      {"tg", "tajik"},
    {"th", "thai"},           {"tk", "turkmen"},     {"tl", "tagalog"},
    {"tr", "turkish"},        {"tt", "tatar"},       {"uk", "ukrainian"},
    {"ur", "urdu"},           {"uz", "uzbek"},       {"vi", "vietnamese"},
    {"yi", "yiddish"},        {"yo", "yoruba"},      {"yue", "cantonese"},
    {"zh", "chinese"},
};
static_assert(std::size(kLanguages) == 100);

// Other names of the same languages. "jv" is the code that everyone but Whisper has for Javanese.
constexpr NamedLanguage kAliases[] = {
    {"ca", "valencian"}, {"es", "castilian"}, {"ht", "haitian"},  {"jw", "jv"},     {"lb", "letzeburgesch"},
    {"my", "burmese"},   {"nl", "flemish"},   {"pa", "panjabi"},  {"ps", "pushto"}, {"ro", "moldavian"},
    {"ro", "moldovan"},  {"si", "sinhalese"}, {"zh", "mandarin"},
};

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_in_any_case(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::span<const NamedLanguage> all_languages() noexcept {
  return kLanguages;
}

std::optional<std::string_view> language_name(std::string_view code) noexcept {
  for (const NamedLanguage& language : kLanguages)
    if (language.code == code) return language.name;
  return std::nullopt;
}

std::optional<std::string_view> language_code(std::string_view name_or_code) noexcept {
  for (const NamedLanguage& language : kLanguages)
    if (equal_in_any_case(language.code, name_or_code) || equal_in_any_case(language.name, name_or_code))
      return language.code;
  for (const NamedLanguage& alias : kAliases)
    if (equal_in_any_case(alias.name, name_or_code)) return alias.code;
  return std::nullopt;
}

}  // namespace sotto
