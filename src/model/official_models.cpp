#include "model/official_models.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/format.h>

namespace sotto {
namespace {

using Head = std::pair<int, int>;

constexpr std::array<std::string_view, 100> kLanguages = {
    "en", "zh", "de", "es", "ru", "ko", "fr", "ja", "pt",  "tr", "pl", "ca", "nl", "ar", "sv", "it", "id",
    "hi", "fi", "vi", "he", "uk", "el", "ms", "cs", "ro",  "da", "hu", "ta", "no", "th", "ur", "hr", "bg",
    "lt", "la", "mi", "ml", "cy", "sk", "te", "fa", "lv",  "bn", "sr", "az", "sl", "kn", "et", "mk", "br",
    "eu", "is", "hy", "ne", "mn", "bs", "kk", "sq", "sw",  "gl", "mr", "pa", "si", "km", "sn", "yo", "so",
    "af", "oc", "ka", "be", "tg", "sd", "gu", "am", "yi",  "lo", "uz", "fo", "ht", "ps", "tk", "nn", "mt",
    "sa", "lb", "my", "bo", "tl", "mg", "as", "tt", "haw", "ln", "ha", "ba", "jw", "su", "yue"};

// The cross-attention heads whose weights follow the audio, as OpenAI published them with each release.
// clang-format off
constexpr Head kTinyEn[] = {{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}};
constexpr Head kTiny[] = {{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}};
constexpr Head kBaseEn[] = {{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}};
constexpr Head kBase[] = {{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}};
constexpr Head kSmallEn[] = {{6, 6}, {7, 0}, {7, 3}, {7, 8}, {8, 2}, {8, 5}, {8, 7}, {9, 0}, {9, 4}, {9, 8}, {9, 10}, {10, 0}, {10, 1}, {10, 2}, {10, 3}, {10, 6}, {10, 11}, {11, 2}, {11, 4}};
constexpr Head kSmall[] = {{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}};
constexpr Head kMediumEn[] = {{11, 4}, {14, 1}, {14, 12}, {14, 14}, {15, 4}, {16, 0}, {16, 4}, {16, 9}, {17, 12}, {17, 14}, {18, 7}, {18, 10}, {18, 15}, {20, 0}, {20, 3}, {20, 9}, {20, 14}, {21, 12}};
constexpr Head kMedium[] = {{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}};
constexpr Head kLargeV1[] = {{9, 19}, {11, 2}, {11, 4}, {11, 17}, {22, 7}, {22, 11}, {22, 17}, {23, 2}, {23, 15}};
constexpr Head kLargeV2[] = {{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16}, {18, 4}, {18, 11}, {18, 19}, {19, 11}, {21, 2}, {21, 3}, {22, 3}, {22, 9}, {22, 12}, {23, 5}, {23, 7}, {23, 13}, {25, 5}, {26, 1}, {26, 12}, {27, 15}};
constexpr Head kLargeV3[] = {{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11}, {21, 4}, {24, 1}, {25, 6}};
constexpr Head kLargeV3Turbo[] = {{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}};

constexpr OfficialModel kModels[] = {
    {"tiny.en", 384, 4, 4, 51864, kTinyEn},
    {"tiny", 384, 4, 4, 51865, kTiny},
    {"base.en", 512, 6, 6, 51864, kBaseEn},
    {"base", 512, 6, 6, 51865, kBase},
    {"small.en", 768, 12, 12, 51864, kSmallEn},
    {"small", 768, 12, 12, 51865, kSmall},
    {"medium.en", 1024, 24, 24, 51864, kMediumEn},
    {"medium", 1024, 24, 24, 51865, kMedium},
    {"large-v1", 1280, 32, 32, 51865, kLargeV1},
    {"large-v2", 1280, 32, 32, 51865, kLargeV2},
    {"large-v3", 1280, 32, 32, 51866, kLargeV3},
    {"large-v3-turbo", 1280, 32, 4, 51866, kLargeV3Turbo},
};
// clang-format on

bool same_sizes(const OfficialModel& model, const ModelConfig& config) noexcept {
  return model.width == config.width && model.encoder_layers == config.encoder_layers &&
         model.decoder_layers == config.decoder_layers && model.vocabulary == config.vocabulary;
}

}  // namespace

const OfficialModel* find_official_model(const ModelConfig& config, std::string_view file_name) noexcept {
  const OfficialModel* found = nullptr;
  for (const OfficialModel& model : kModels) {
    if (!same_sizes(model, config)) continue;
    if (file_name.find(model.name) != std::string_view::npos) return &model;
    found = &model;
  }
  return found;
}

std::span<const std::string_view> standard_language_codes() noexcept {
  return kLanguages;
}

std::vector<std::string> standard_special_tokens(int languages) {
  std::vector<std::string> names = {"<|endoftext|>", "<|startoftranscript|>"};
  for (const std::string_view code : std::span(kLanguages).first(static_cast<size_t>(languages)))
    names.push_back(fmt::format("<|{}|>", code));
  for (const char* name : {"<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>",
                           "<|nospeech|>", "<|notimestamps|>"})
    names.emplace_back(name);
  for (int step = 0; step <= 1500; ++step)
    names.push_back(fmt::format("<|{}.{:02}|>", step / 50, step % 50 * 2));
  return names;
}

void name_missing_special_tokens(Vocabulary& vocabulary) {
  auto& tokens = vocabulary.tokens;
  const auto end_token = std::find(tokens.begin(), tokens.end(), "<|endoftext|>");
  const auto specials = tokens.end() - end_token;
  const auto languages = specials - kSpecialTokensBesidesLanguages;
  if (languages < 0 || languages > static_cast<std::ptrdiff_t>(kLanguages.size())) return;

  const auto first = static_cast<size_t>(end_token - tokens.begin());
  const std::unordered_set<std::string> named(end_token, tokens.end());
  const std::vector<std::string> standard = standard_special_tokens(static_cast<int>(languages));
  for (size_t i = 0; i < standard.size(); ++i) {
    std::string& token = tokens[first + i];
    if (token.empty() && vocabulary.special[first + i] && !named.contains(standard[i])) token = standard[i];
  }
}

}  // namespace sotto
