#include "support/openai_tensor_names.h"

#include <utility>

namespace sotto::test {

std::string openai_name(const std::string& checkpoint_name) {
  // Replaced one after the other: longer names come before those that they contain.
  constexpr std::pair<const char*, const char*> kReplacements[] = {
      {"encoder.layer_norm", "encoder.ln_post"},
      {"decoder.layer_norm", "decoder.ln"},
      {"embed_positions.weight", "positional_embedding"},
      {"embed_tokens", "token_embedding"},
      {".layers.", ".blocks."},
      {"self_attn_layer_norm", "attn_ln"},
      {"encoder_attn_layer_norm", "cross_attn_ln"},
      {"final_layer_norm", "mlp_ln"},
      {"self_attn.", "attn."},
      {"encoder_attn.", "cross_attn."},
      {"q_proj", "query"},
      {"k_proj", "key"},
      {"v_proj", "value"},
      {"out_proj", "out"},
      {"fc1", "mlp.0"},
      {"fc2", "mlp.2"},
  };
  std::string name = checkpoint_name;
  for (const auto& [from, to] : kReplacements)
    if (const size_t at = name.find(from); at != std::string::npos)
      name.replace(at, std::string(from).size(), to);
  return name;
}

}  // namespace sotto::test
