#include "model/store.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/checkpoint_tools.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A home of its own for each test, so that nothing of the machine's is found.
class Store : public ::testing::Test {
 protected:
  Store() {
    for (const char* variable :
         {"SOTTO_MODEL_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE"})
      unsetenv(variable);
    setenv("HOME", home_.path().c_str(), 1);
  }

  fs::path make_file(const fs::path& below_home, std::string_view content = "x") {
    fs::create_directories((home_.path() / below_home).parent_path());
    test::write_file(home_.path() / below_home, content);
    return home_.path() / below_home;
  }

  fs::path make_snapshot(const fs::path& hub, const std::string& repository) {
    make_file(hub / repository / "refs/main", "abc123");
    return make_file(hub / repository / "snapshots/abc123/config.json").parent_path();
  }

  test::TemporaryFolder home_;
};

TEST_F(Store, AnExistingPathWins) {
  const fs::path file = make_file("some/model.bin");
  EXPECT_EQ(find_model(file.string()), file);
  EXPECT_EQ(find_model(file.parent_path().string()), file.parent_path());
}

TEST_F(Store, OwnFolders) {
  const fs::path shared = make_file(".local/share/sotto/models/tiny.safetensors");
  EXPECT_EQ(find_model("tiny"), shared);
  const fs::path chosen = make_file("chosen/tiny.bin");
  setenv("SOTTO_MODEL_DIR", (home_ / "chosen").c_str(), 1);
  EXPECT_EQ(find_model("tiny"), chosen);
  setenv("XDG_DATA_HOME", (home_ / "data").c_str(), 1);
  const fs::path folder = make_file("data/sotto/models/base.en/config.json").parent_path();
  EXPECT_EQ(find_model("base.en"), folder);
}

TEST_F(Store, HuggingFaceCache) {
  const fs::path ct2 = make_snapshot(".cache/huggingface/hub", "models--Systran--faster-whisper-small");
  EXPECT_EQ(find_model("small"), ct2);
  const fs::path original = make_snapshot(".cache/huggingface/hub", "models--openai--whisper-small");
  EXPECT_EQ(find_model("small"), original);
  EXPECT_EQ(find_model("Systran/faster-whisper-small"), ct2);
  setenv("HF_HOME", (home_ / "hf").c_str(), 1);
  const fs::path turbo = make_snapshot("hf/hub", "models--openai--whisper-large-v3-turbo");
  EXPECT_EQ(find_model("turbo"), turbo);
  setenv("HF_HUB_CACHE", (home_ / "hub").c_str(), 1);
  const fs::path distilled = make_snapshot("hub", "models--distil-whisper--distil-large-v3");
  EXPECT_EQ(find_model("distil-large-v3"), distilled);
}

TEST_F(Store, OtherProgramsFolders) {
  const fs::path openai = make_file(".cache/whisper/tiny.en.pt");
  const fs::path ggml = make_file(".cache/whisper.cpp/ggml-large-v3.bin");
  EXPECT_EQ(find_model("tiny.en"), openai);
  EXPECT_EQ(find_model("large"), ggml);
}

TEST_F(Store, SaysWhereItLooked) {
  EXPECT_THAT(error_of([] { find_model("tiny"); }),
              AllOf(HasSubstr("'tiny'"), HasSubstr(".local/share/sotto/models"), HasSubstr("huggingface/hub"),
                    HasSubstr(".cache/whisper.cpp")));
  EXPECT_THAT(error_of([] { find_model("some/folder/model.bin"); }), HasSubstr("no such file"));
}

TEST_F(Store, NamesDoNotLeaveTheFolders) {
  make_file(".local/share/sotto/secret.bin");
  EXPECT_THAT(error_of([] { find_model("../secret"); }), HasSubstr("does not exist"));
  make_file(".cache/huggingface/hub/models--openai--whisper-tiny/refs/main", "../../..");
  EXPECT_THAT(error_of([] { find_model("tiny"); }), HasSubstr("not found"));
}

}  // namespace
}  // namespace sotto
