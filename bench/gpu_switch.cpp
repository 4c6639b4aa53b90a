// Models come and go on a GPU while others transcribe on it: gpu_switch LIBRARY DATA SWITCHES
// DATA is tests/golden/data. Each of the working threads keeps transcribing a clip with the built-in model,
// in a session of its own, and compares the tokens with the reference's; meanwhile three models in two
// compute types are loaded, used and unloaded, in turn. In the end the driver's own figure of free memory
// must be what it was.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/gpu/context.h"
#include "backend/gpu/gpu_backend.h"
#include "base/error.h"
#include "model/random_checkpoint.h"
#include "support/npz.h"
#include "whisper/search.h"

namespace {

using namespace sotto;

constexpr int kWorkers = 2;
constexpr double kMostLost = 1 << 20;  // bytes

struct Clip {
  std::vector<float> mel;
  std::vector<TokenId> tokens;  // that greedy decoding writes
  std::string language;
};

Clip read_clip(const std::filesystem::path& data, const std::string& name) {
  const auto arrays = test::read_npz(data / ("nano_" + name + ".npz"));
  std::ifstream file(data / ("nano_" + name + ".json"));
  const auto facts = nlohmann::json::parse(file);
  const test::NpyArray& mel = arrays.at("mel");
  const size_t bins = mel.shape[0], frames = mel.shape[1];
  Clip clip{std::vector<float>(bins * frames), facts.at("greedy").get<std::vector<TokenId>>(),
            facts.at("language").get<std::string>()};
  for (size_t b = 0; b < bins; ++b)
    for (size_t f = 0; f < frames; ++f) clip.mel[f * bins + b] = mel.floats[b * frames + f];
  return clip;
}

// Whether the clip's tokens come out.
bool transcribes(const Network& network, const Checkpoint& checkpoint, const Tokenizer& tokenizer,
                 const Clip& clip) {
  Session session(network, 1, 1);
  session.encode(0, clip.mel);
  SearchSettings settings;
  settings.start = {tokenizer.special().start, *tokenizer.language_token(clip.language),
                    tokenizer.special().transcribe, tokenizer.special().no_timestamps};
  settings.timestamps = false;
  settings.suppressed = *checkpoint.generation.suppress_tokens;
  settings.begin_suppressed = *checkpoint.generation.begin_suppress_tokens;
  Search search(tokenizer, network.config(), settings, {0}, 0);
  run_search(session, search, [] { return false; });
  std::vector<TokenId> all = settings.start;
  for (const TokenId token : search.result().tokens) all.push_back(token);
  all.push_back(tokenizer.special().end);
  return all == clip.tokens;
}

// One step of a model that says nothing: its numbers are what the first run gave.
TokenId first_token(const Network& network) {
  Session session(network, 1, 1);
  const std::vector<float> mel(static_cast<size_t>(network.mel_frames() * network.config().mel_bins), 0.1f);
  session.encode(0, mel);
  const DecodeRow row{1, 0, 0, 0};
  const SamplePoint point{0, {}};
  return session.decode({&row, 1}, {&point, 1}).front().candidates.front().token;
}

size_t free_memory(gpu::Context& context) {
  const gpu::Entered scope(context);
  return context.free_memory();
}

int run(const std::string& library, const std::filesystem::path& data, int switches) {
  const Checkpoint nano = embedded_checkpoint();
  const Tokenizer tokenizer{Vocabulary(nano.vocabulary)};
  const Clip clip = read_clip(data, "pico_en_short");
  const auto open = [&](ComputeType type) {
    return make_gpu_backend({gpu::Vendor::nvidia, library, 0, type, {}});
  };
  const ModelConfig tiny = named_shapes()[0].config;
  ModelConfig small = tiny;
  small.width = 256, small.encoder_heads = small.decoder_heads = 4,
  small.encoder_ffn = small.decoder_ffn = 1024;
  const Checkpoint others[] = {random_checkpoint(tiny), random_checkpoint(small)};

  const auto context = gpu::Context::open(gpu::Vendor::nvidia, library, 0);
  std::atomic<int> wrong = 0, heard = 0;
  const auto everything_once = [&] {  // also what the driver itself keeps from then on
    const auto backend = open(ComputeType::float16);
    const Network network(*backend, nano);
    if (!transcribes(network, nano, tokenizer, clip)) ++wrong;
  };
  everything_once();
  const size_t before = free_memory(*context);

  std::atomic<bool> stop = false;
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i)
    workers.emplace_back([&, i] {
      try {
        const auto backend = open(i % 2 == 0 ? ComputeType::float16 : ComputeType::int8);
        const Network network(*backend, nano);
        while (!stop) {
          if (!transcribes(network, nano, tokenizer, clip)) ++wrong;
          ++heard;
        }
      } catch (const std::exception& error) {
        ++wrong;
        std::fprintf(stderr, "a working thread: %s\n", error.what());
      }
    });
  TokenId expected[2][2] = {{-1, -1}, {-1, -1}};
  for (int i = 0; i < switches; ++i) {
    const int type = i % 2, model = i / 2 % 3;
    const auto backend = open(type == 0 ? ComputeType::float16 : ComputeType::int8);
    if (model == 2) {
      const Network network(*backend, nano);
      if (!transcribes(network, nano, tokenizer, clip)) ++wrong;
      continue;
    }
    const Network network(*backend, others[model]);
    const TokenId token = first_token(network);
    if (expected[model][type] < 0) expected[model][type] = token;
    if (token != expected[model][type]) ++wrong;
  }
  stop = true;
  for (std::thread& worker : workers) worker.join();

  const double lost = static_cast<double>(before) - static_cast<double>(free_memory(*context));
  fmt::print(
      "{} switches of 3 models in 2 types, {} transcriptions by {} other threads: {} wrong, {:.0f} bytes "
      "lost\n",
      switches, heard.load(), kWorkers, wrong.load(), lost);
  return wrong == 0 && lost < kMostLost ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: gpu_switch LIBRARY DATA SWITCHES\n");
    return 2;
  }
  try {
    return run(arguments[1], arguments[2], std::atoi(arguments[3]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_switch: %s\n", error.what());
    return 1;
  }
}
