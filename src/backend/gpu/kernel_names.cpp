#include "backend/gpu/kernel_names.h"

#include "backend/gpu/tensor_cores.h"

namespace sotto::gpu {
namespace {

// In each type.
constexpr std::string_view kPlain[] = {"pack",
                                       "dequantize",
                                       "write",
                                       "read",
                                       "layer_norm",
                                       "layer_norm_few",
                                       "embed",
                                       "embed_i8",
                                       "linear_many_simt",
                                       "linear_few_simt",
                                       "linear_few_simt_i8",
                                       "attend_encoder_simt",
                                       "attend_self",
                                       "attend_cross",
                                       "cross_weights",
                                       "copy_rows",
                                       "copy_slot",
                                       "mel_scale"};
// In one form for all.
constexpr std::string_view kUntyped[] = {"pack_i8", "sample", "mel_frames"};

}  // namespace

std::string_view element_name(Element element) noexcept {
  constexpr std::string_view kNames[] = {"f16", "bf16", "f32"};
  return kNames[static_cast<size_t>(element)];
}

size_t element_bytes(Element element) noexcept {
  return element == Element::f32 ? 4 : 2;
}

std::vector<std::string> kernel_names(Path path) {
  std::vector<std::string> names;
  if (path == Path::mma) {
    names = few_kernel_names();
    for (const char* const name :
         {"linear_many_mma_f16", "linear_many_mma_bf16", "attend_encoder_mma_f16", "attend_encoder_mma_bf16"})
      names.emplace_back(name);
  }
  if (path == Path::wgmma)
    for (const char* const type : {"f16", "bf16"}) {
      names.push_back(std::string("attend_encoder_wgmma_") + type);
      for (const char* const columns : {"128", "256"})
        names.push_back(std::string("linear_many_wgmma_") + columns + "_" + type);
    }
  if (path != Path::simt) return names;
  for (const std::string_view base : kPlain)
    for (const Element element : {Element::f16, Element::bf16, Element::f32})
      names.push_back(std::string(base) + "_" + std::string(element_name(element)));
  names.insert(names.end(), std::begin(kUntyped), std::end(kUntyped));
  return names;
}

}  // namespace sotto::gpu
