#pragma once

#include <string>

#include "model/reader.h"

namespace sotto {

// The texts of a CTranslate2 folder, empty where there is no such file. Of the three vocabularies the first
// that exists counts: tokenizer.json has the merges and says which tokens are special.
struct Ctranslate2Texts {
  std::string config_json;
  std::string tokenizer_json;
  std::string vocabulary_json;
  std::string vocabulary_txt;
};

// read_ctranslate2_folder without the folder: `file` is its model.bin, `folder` names the others in messages.
Checkpoint read_ctranslate2(const NamedBytes& file, const std::string& folder, const Ctranslate2Texts& texts);

}  // namespace sotto
