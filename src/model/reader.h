#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "model/checkpoint.h"
#include "platform/mapped_file.h"

// One reader per format. Each takes bytes that nobody vouches for: every size is checked before it is used.
namespace sotto {

// A file's bytes with the name that messages give it.
struct NamedBytes {
  std::string name;
  std::shared_ptr<const Region> region;
};

Checkpoint read_hugging_face_folder(const std::filesystem::path& folder);

// The same without the tokenizer's files: the vocabulary stays empty. For tests and benchmarks of the network
// alone.
Checkpoint read_hugging_face_weights(const std::filesystem::path& folder);

Checkpoint read_safetensors_file(const NamedBytes& file);  // one file with the JSON files in its metadata
Checkpoint read_ggml(const NamedBytes& file);
Checkpoint read_ctranslate2_folder(const std::filesystem::path& folder);
Checkpoint read_openai(const NamedBytes& file,
                       const std::filesystem::path& folder);  // where to look for a vocabulary

bool looks_like_safetensors(std::span<const std::byte> bytes) noexcept;
bool looks_like_ggml(std::span<const std::byte> bytes) noexcept;
bool looks_like_openai(std::span<const std::byte> bytes) noexcept;  // a zip archive

// Every tensor the configuration calls for is there with the right shape, and the sizes are sane; else
// Error(bad_model). Each reader calls it last.
void check_checkpoint(const Checkpoint& checkpoint);
void check_weights(const Checkpoint& checkpoint);  // all of it but the vocabulary

}  // namespace sotto
