#include "model/openai_names.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "model/official_models.h"

namespace sotto {
namespace {

using Renaming = std::pair<std::string_view, std::string_view>;

constexpr Renaming kWholeNames[] = {
    {"encoder.conv1.weight", "encoder.conv1.weight"},
    {"encoder.conv1.bias", "encoder.conv1.bias"},
    {"encoder.conv2.weight", "encoder.conv2.weight"},
    {"encoder.conv2.bias", "encoder.conv2.bias"},
    {"encoder.positional_embedding", "encoder.embed_positions.weight"},
    {"encoder.ln_post.weight", "encoder.layer_norm.weight"},
    {"encoder.ln_post.bias", "encoder.layer_norm.bias"},
    {"decoder.token_embedding.weight", "decoder.embed_tokens.weight"},
    {"decoder.positional_embedding", "decoder.embed_positions.weight"},
    {"decoder.ln.weight", "decoder.layer_norm.weight"},
    {"decoder.ln.bias", "decoder.layer_norm.bias"},
};

constexpr Renaming kLayerParts[] = {
    {"attn.query", "self_attn.q_proj"},
    {"attn.key", "self_attn.k_proj"},
    {"attn.value", "self_attn.v_proj"},
    {"attn.out", "self_attn.out_proj"},
    {"attn_ln", "self_attn_layer_norm"},
    {"cross_attn.query", "encoder_attn.q_proj"},
    {"cross_attn.key", "encoder_attn.k_proj"},
    {"cross_attn.value", "encoder_attn.v_proj"},
    {"cross_attn.out", "encoder_attn.out_proj"},
    {"cross_attn_ln", "encoder_attn_layer_norm"},
    {"mlp.0", "fc1"},
    {"mlp.2", "fc2"},
    {"mlp_ln", "final_layer_norm"},
};

template <size_t Count>
std::optional<std::string_view> renamed(const Renaming (&table)[Count], std::string_view name) {
  const auto found =
      std::find_if(table, table + Count, [&](const Renaming& entry) { return entry.first == name; });
  if (found == table + Count) return std::nullopt;
  return found->second;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

int inner_width(const Checkpoint& checkpoint, const std::string& tensor) {
  const auto found = checkpoint.tensors.find(tensor);
  if (found == checkpoint.tensors.end())
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' is missing", checkpoint.source, tensor);
  const int64_t rows = found->second.rows();
  return rows <= INT32_MAX ? static_cast<int>(rows) : 0;  // 0 is refused with the other sizes
}

}  // namespace

std::optional<std::string> checkpoint_name_from_openai(std::string_view name) {
  if (const auto whole = renamed(kWholeNames, name)) return std::string(*whole);

  // encoder|decoder . blocks . N . part . weight|bias
  constexpr std::string_view kBlocks = ".blocks.";
  const size_t blocks = name.find(kBlocks);
  if (blocks == std::string_view::npos) return std::nullopt;
  const std::string_view half = name.substr(0, blocks);
  const std::string_view rest = name.substr(blocks + kBlocks.size());
  const size_t number_end = rest.find('.');
  const size_t kind_start = rest.rfind('.');
  if ((half != "encoder" && half != "decoder") || number_end == std::string_view::npos ||
      number_end >= kind_start)
    return std::nullopt;
  const std::string_view number = rest.substr(0, number_end);
  const std::string_view kind = rest.substr(kind_start);
  const auto part = renamed(kLayerParts, rest.substr(number_end + 1, kind_start - number_end - 1));
  if (!is_number(number) || !part || (kind != ".weight" && kind != ".bias")) return std::nullopt;
  return std::string(half) + ".layers." + std::string(number) + "." + std::string(*part) + std::string(kind);
}

void add_implied_facts(Checkpoint& checkpoint) {
  checkpoint.config.encoder_ffn = inner_width(checkpoint, "encoder.layers.0.fc1.weight");
  checkpoint.config.decoder_ffn = inner_width(checkpoint, "decoder.layers.0.fc1.weight");
  if (const OfficialModel* official = find_official_model(checkpoint.config, checkpoint.source))
    checkpoint.generation.alignment_heads.assign(official->alignment_heads.begin(),
                                                 official->alignment_heads.end());
}

}  // namespace sotto
