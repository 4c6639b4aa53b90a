#include "model/store.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "base/error.h"
#include "platform/directories.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

// Looks at one place after the other and remembers them all, for the message when nothing is found.
class Search {
 public:
  bool try_path(const fs::path& path) {
    std::error_code ignored;
    if (fs::exists(path, ignored)) found_ = path;
    return found_.has_value();
  }

  void note_place(std::string place) { places_.push_back(std::move(place)); }

  const std::optional<fs::path>& found() const noexcept { return found_; }
  std::string places() const { return fmt::format("{}", fmt::join(places_, ", ")); }

 private:
  std::optional<fs::path> found_;
  std::vector<std::string> places_;
};

std::optional<fs::path> environment_path(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] == '\0') return std::nullopt;
  return fs::path(value);
}

// The releases go by several names.
std::string canonical_name(const std::string& name) {
  if (name == "turbo") return "large-v3-turbo";
  if (name == "large") return "large-v3";
  return name;
}

// A name becomes part of paths, so nothing in it may lead out of the folders that are searched.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

void search_own_folder(Search& search, const fs::path& folder, const std::string& name) {
  search.note_place(folder.string());
  for (const std::string& file :
       {name + ".safetensors", name + ".bin", "ggml-" + name + ".bin", name + ".pt", name})
    if (search.try_path(folder / file)) return;
}

// "openai/whisper-tiny" is kept as models--openai--whisper-tiny/snapshots/<commit>; refs/main names the
// commit.
void search_repository(Search& search, const fs::path& hub, const std::string& owner,
                       const std::string& repository) {
  const fs::path folder = hub / ("models--" + owner + "--" + repository);
  std::string commit;
  if (!std::getline(std::ifstream(folder / "refs" / "main"), commit) || !is_plain_name(commit)) return;
  search.try_path(folder / "snapshots" / commit);
}

fs::path hugging_face_hub() {
  if (const auto hub = environment_path("HF_HUB_CACHE")) return *hub;
  if (const auto home = environment_path("HF_HOME")) return *home / "hub";
  if (const auto cache = environment_path("XDG_CACHE_HOME")) return *cache / "huggingface" / "hub";
  return home_directory() / ".cache" / "huggingface" / "hub";
}

struct Repository {
  std::string owner, name;
};

// Where the releases are published: Hugging Face's own format first, then CTranslate2's.
std::vector<Repository> published_repositories(const std::string& name) {
  constexpr std::string_view kDistilled = "distil-";
  if (name.starts_with(kDistilled))
    return {{"distil-whisper", name}, {"Systran", "faster-distil-whisper-" + name.substr(kDistilled.size())}};
  return {{"openai", "whisper-" + name},
          {"Systran", "faster-whisper-" + name},
          {"mobiuslabsgmbh", "faster-whisper-" + name},
          {"deepdml", "faster-whisper-" + name + "-ct2"}};
}

void search_hugging_face(Search& search, const std::vector<Repository>& repositories) {
  const fs::path hub = hugging_face_hub();
  search.note_place(hub.string());
  for (const Repository& repository : repositories) {
    search_repository(search, hub, repository.owner, repository.name);
    if (search.found()) return;
  }
}

fs::path cache_of(const char* program) {
  return environment_path("XDG_CACHE_HOME").value_or(home_directory() / ".cache") / program;
}

void search_by_name(Search& search, const std::string& name) {
  std::vector<fs::path> folders;
  if (const auto chosen = environment_path("SOTTO_MODEL_DIR")) folders.push_back(*chosen);
  folders.push_back(user_data_directory() / "models");
  for (const fs::path& folder : folders) {
    search_own_folder(search, folder, name);
    if (search.found()) return;
  }
  search_hugging_face(search, published_repositories(name));
  for (const fs::path& folder : {cache_of("whisper"), cache_of("whisper.cpp"), fs::path("models")}) {
    if (search.found()) return;
    search.note_place(folder.string());
    if (search.try_path(folder / (name + ".pt"))) return;
    search.try_path(folder / ("ggml-" + name + ".bin"));
  }
}

std::optional<Repository> as_repository(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Repository repository{text.substr(0, slash), text.substr(slash + 1)};
  if (!is_plain_name(repository.owner) || !is_plain_name(repository.name)) return std::nullopt;
  return repository;
}

}  // namespace

fs::path find_model(const std::string& name_or_path) {
  Search search;
  if (search.try_path(name_or_path)) return *search.found();
  const std::string name = canonical_name(name_or_path);
  if (const auto repository = as_repository(name))
    search_hugging_face(search, {*repository});
  else if (is_plain_name(name))
    search_by_name(search, name);
  if (search.found()) return *search.found();
  if (search.places().empty())
    throw Error(ErrorCode::io, "the model '{}' does not exist: there is no such file or folder",
                name_or_path);
  throw Error(ErrorCode::io,
              "the model '{}' was not found: it is no file or folder, and no model of that name is in {}; "
              "download one "
              "(for example from huggingface.co/openai) and give its path",
              name_or_path, search.places());
}

}  // namespace sotto
