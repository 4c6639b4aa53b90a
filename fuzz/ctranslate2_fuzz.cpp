// Any bytes as CTranslate2's model.bin, with a vocabulary that fits any size: refused with an Error, or a
// checkpoint whose tensors can be read.
#include "model/ctranslate2.h"
#include "read_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sotto::Ctranslate2Texts texts;
  texts.config_json = R"({"suppress_ids": [1, 2], "suppress_ids_begin": [], "alignment_heads": [[0, 0]]})";
  texts.vocabulary_txt = "a\nb\nc\n<|endoftext|>\n";
  sotto::fuzz::read_any([&] {
    return sotto::read_ctranslate2({"fuzz/model.bin", sotto::fuzz::region_of(data, size)}, "fuzz", texts);
  });
  return 0;
}
