// Where words begin, against the sentence borders that are known for the samples.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "engine/transcriber.h"
#include "support/temporary_folder.h"
#include "support/word_errors.h"

namespace sotto::test {
namespace {

struct Reference {
  std::string file;
  std::vector<double> starts;                       // of each sentence
  std::vector<std::vector<std::string>> sentences;  // their words
};

std::vector<Reference> references() {
  std::ifstream table(source_path("samples/refs.tsv"));
  std::vector<Reference> list;
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream cells(line);
    std::string file, language, text, times;
    std::getline(cells, file, '\t');
    std::getline(cells, language, '\t');
    std::getline(cells, text, '\t');
    std::getline(cells, times, '\t');
    Reference reference{file, {}, {}};
    std::istringstream segments(times);
    for (std::string segment; std::getline(segments, segment, ';');)
      reference.starts.push_back(std::stod(segment));
    for (size_t begin = 0, end = 0; (end = text.find_first_of(".?!", begin)) != std::string::npos;
         begin = end + 1)
      reference.sentences.push_back(normalised_words(text.substr(begin, end - begin)));
    if (reference.sentences.size() == reference.starts.size() && !reference.starts.empty())
      list.push_back(reference);
  }
  return list;
}

TEST(WordTimes, BeginWhereTheSentencesBegin) {
  Options options;
  options.compute_type = "float32";
  options.word_timestamps = true;
  LoadedModel model(options);
  double error = 0, worst = 0;
  size_t count = 0;
  for (const Reference& reference : references()) {
    const auto audio = open_audio(source_path("samples/" + reference.file).string());
    const Transcript transcript = transcribe(model, *audio, options);
    std::vector<Word> words;
    double last = 0;
    for (const Segment& segment : transcript.segments) {
      ASSERT_FALSE(segment.words.empty());
      for (const Word& word : segment.words) {
        EXPECT_GE(word.start, last) << reference.file << word.text;
        EXPECT_GE(word.end, word.start);
        EXPECT_GE(word.start, segment.start - 1e-9);
        EXPECT_LE(word.end, segment.end + 1e-9);
        EXPECT_GT(word.probability, 0);
        EXPECT_LE(word.probability, 1);
        last = word.end;
        words.push_back(word);
      }
    }
    size_t spoken = 0;
    for (const auto& sentence : reference.sentences) spoken += sentence.size();
    // "twenty-five" is one word with a time, but two for the count.
    std::vector<Word> parts;
    for (const Word& word : words)
      for (size_t i = 0; i < normalised_words(word.text).size(); ++i) parts.push_back(word);
    ASSERT_EQ(parts.size(), spoken) << reference.file;
    size_t next = 0;
    for (size_t i = 0; i < reference.starts.size(); ++i) {
      const double difference = std::abs(parts[next].start - reference.starts[i]);
      std::printf("  %-24s %-12s begins at %6.2f, found %6.2f\n", reference.file.c_str(),
                  parts[next].text.c_str(), reference.starts[i], parts[next].start);
      error += difference;
      worst = std::max(worst, difference);
      next += reference.sentences[i].size();
      ++count;
    }
  }
  std::printf("word starts at %zu known borders: mean error %.3f s, worst %.3f s\n", count, error / count,
              worst);
  EXPECT_GE(count, 25u);
  EXPECT_LT(error / static_cast<double>(count), 0.10);
}

}  // namespace
}  // namespace sotto::test
