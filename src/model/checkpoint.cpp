#include "model/checkpoint.h"

#include <array>
#include <string_view>

#include "base/error.h"
#include "model/reader.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

std::string_view beginning(std::span<const std::byte> bytes, size_t most) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), most)};
}

bool is_web_page(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (start == std::string_view::npos) return false;
  std::string lower(text.substr(start, 16));
  for (char& letter : lower)
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  for (const std::string_view opening : {"<!doctype html", "<html", "<head", "<?xml"})
    if (lower.starts_with(opening)) return true;
  return false;
}

// Files that people take for models, with what to do about each.
[[noreturn]] void refuse_file(const NamedBytes& file) {
  const std::string_view start = beginning(file.region->bytes(), 256);
  if (is_web_page(start))
    throw Error(ErrorCode::bad_model, "{}: looks like a web page: the download was probably an error page",
                file.name);
  if (start.starts_with("version https://git-lfs"))
    throw Error(ErrorCode::bad_model,
                "{}: is a Git LFS pointer, not the model itself; fetch it with 'git lfs pull'", file.name);
  if (start.starts_with("GGUF"))
    throw Error(ErrorCode::bad_model,
                "{}: is a GGUF file; Whisper models of whisper.cpp are ggml .bin files instead", file.name);
  throw Error(ErrorCode::bad_model,
              "{}: is no model that Sotto knows: it is neither safetensors, nor ggml, nor an OpenAI .pt file",
              file.name);
}

Checkpoint read_file_checkpoint(const fs::path& path) {
  const NamedBytes file{path.string(), map_file(path)};
  const auto bytes = file.region->bytes();
  if (bytes.empty()) throw Error(ErrorCode::bad_model, "{}: is empty", file.name);
  if (looks_like_ggml(bytes)) return read_ggml(file);
  if (looks_like_openai(bytes)) return read_openai(file, path.parent_path());
  if (looks_like_safetensors(bytes)) {
    // A model.safetensors given by name: its folder holds the rest of it.
    const bool in_folder =
        path.filename() == "model.safetensors" && fs::exists(path.parent_path() / "config.json");
    return in_folder ? read_hugging_face_folder(path.parent_path()) : read_safetensors_file(file);
  }
  refuse_file(file);
}

Checkpoint read_folder_checkpoint(const fs::path& folder) {
  if (fs::exists(folder / "model.bin")) return read_ctranslate2_folder(folder);
  if (fs::exists(folder / "config.json")) return read_hugging_face_folder(folder);
  throw Error(
      ErrorCode::bad_model,
      "{}: this folder holds no model: looked for config.json with model.safetensors (Hugging Face) and for "
      "model.bin (CTranslate2)",
      folder.string());
}

}  // namespace

Checkpoint read_checkpoint(const fs::path& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (!fs::exists(status))
    throw Error(ErrorCode::io, "{}: {}", path.string(),
                failed && failed != std::errc::no_such_file_or_directory ? failed.message()
                                                                         : "there is no such file or folder");
  try {
    return fs::is_directory(status) ? read_folder_checkpoint(path) : read_file_checkpoint(path);
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::io, "{}: cannot be read: {}", path.string(), error.code().message());
  }
}

}  // namespace sotto
