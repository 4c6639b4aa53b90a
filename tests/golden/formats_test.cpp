// The same model in every format writes the same text.
#include <gtest/gtest.h>

#include "engine/transcriber.h"
#include "model/convert.h"
#include "support/checkpoint_tools.h"
#include "support/ctranslate2_writer.h"
#include "support/ggml_writer.h"
#include "support/hugging_face_folder.h"
#include "support/openai_writer.h"
#include "support/temporary_folder.h"
#include "support/word_errors.h"

namespace sotto::test {
namespace {

std::string transcript_of(const std::string& model_path) {
  Options options;
  options.model = model_path;
  options.compute_type = "float32";
  options.beam_size = 1;
  options.temperature = "0";
  options.vad = false;
  LoadedModel model(options);
  std::string text;
  for (const char* name : {"espeak_en", "pico_de"}) {
    const auto audio = open_audio(source_path(std::string("samples/") + name + ".flac").string());
    for (const Segment& segment : transcribe(model, *audio, options).segments)
      text += model.tokenizer().decode_with_special(segment.tokens);
  }
  return text;
}

class Formats : public ::testing::Test {
 protected:
  static const std::string& expected() {
    static const std::string text = transcript_of("");
    return text;
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  static void write(const std::string& to, const WrittenFile& file) { write_file(to, file.bytes); }

  const TemporaryFolder folder_;
  const Checkpoint nano_ = embedded_checkpoint();
};

TEST_F(Formats, HuggingFaceFolders) {
  for (const int shards : {1, 3}) {
    const std::string to = path(shards == 1 ? "one" : "three");
    write_hugging_face_folder(nano_, to, shards);
    EXPECT_TRUE(same_checkpoint(nano_, read_checkpoint(to)));
    EXPECT_EQ(transcript_of(to), expected()) << shards;
  }
}

TEST_F(Formats, OneFileSafetensors) {
  write_safetensors(nano_, path("nano.safetensors"), DType::f32);
  EXPECT_TRUE(same_checkpoint(nano_, read_checkpoint(path("nano.safetensors"))));
  EXPECT_EQ(transcript_of(path("nano.safetensors")), expected());
}

TEST_F(Formats, Ctranslate2Folders) {
  for (const auto form : {Ctranslate2Vocabulary::tokenizer_json, Ctranslate2Vocabulary::vocabulary_json,
                          Ctranslate2Vocabulary::vocabulary_txt}) {
    const std::string to = path("ct2_") + std::to_string(static_cast<int>(form));
    std::filesystem::create_directory(to);
    write_ctranslate2_folder(to, nano_, DType::f16, form);
    EXPECT_EQ(transcript_of(to), expected()) << static_cast<int>(form);
  }
  std::filesystem::create_directory(path("int8"));
  write_ctranslate2_folder(path("int8"), nano_, DType::i8, Ctranslate2Vocabulary::tokenizer_json);
  EXPECT_EQ(transcript_of(path("int8")), expected());
}

TEST_F(Formats, OpenAi) {
  write(path("nano.pt"),
        write_openai(nano_, {DType::f16, ctranslate2_vocabulary_text(
                                             nano_.vocabulary, Ctranslate2Vocabulary::tokenizer_json)}));
  EXPECT_EQ(transcript_of(path("nano.pt")), expected());
}

TEST_F(Formats, Ggml) {
  for (const DType type : {DType::f32, DType::f16}) {
    write(path("ggml.bin"), write_ggml(nano_, type));
    EXPECT_EQ(transcript_of(path("ggml.bin")), expected()) << dtype_name(type);
  }
  // Quantised weights are other weights: eight bits keep the words (a comma may go), four and five bits stay
  // close.
  const auto words = normalised_words(expected());
  for (const DType type : {DType::q8_0, DType::q5_1, DType::q5_0, DType::q4_1, DType::q4_0}) {
    write(path("ggml.bin"), write_ggml(nano_, type));
    const size_t edits = word_edits(words, normalised_words(transcript_of(path("ggml.bin"))));
    EXPECT_LE(edits, type == DType::q8_0 ? 0 : words.size() / 4) << dtype_name(type);
  }
}

}  // namespace
}  // namespace sotto::test
