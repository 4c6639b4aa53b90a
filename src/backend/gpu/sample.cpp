#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/gpu/gpu_types.h"
#include "base/error.h"

namespace sotto::gpu {
namespace {

// Pieces of one buffer, each where every type may begin.
class Layout16 {
 public:
  size_t add(size_t bytes) {
    const size_t at = end_;
    end_ += (bytes + 15) / 16 * 16;
    return at;
  }
  size_t end() const noexcept { return end_; }

 private:
  size_t end_ = 0;
};

// The requests as the device reads them.
struct Questions {
  std::vector<SampleRow> rows;
  std::vector<int> tokens;
  int most_candidates = 1;

  explicit Questions(std::span<const SampleRequest> requests) {
    for (const SampleRequest& request : requests) {
      SampleRow row{};
      add(request.suppressed, row.suppressed_begin, row.suppressed_end);
      add(request.penalised, row.penalised_begin, row.penalised_end);
      row.banned_begin = size();
      for (const TokenRange& range : request.banned) tokens.insert(tokens.end(), {range.first, range.last});
      row.banned_end = size();
      row.timestamp_begin = request.timestamp_begin;
      row.candidates = request.candidates;
      row.probe = request.probe;
      row.penalty = request.penalty;
      row.temperature = request.temperature;
      row.uniform = request.uniform;
      rows.push_back(row);
      most_candidates = std::max(most_candidates, request.temperature > 0 ? 1 : request.candidates);
    }
  }

 private:
  int size() const { return static_cast<int>(tokens.size()); }
  void add(std::span<const int32_t> list, int& begin, int& end) {
    begin = size();
    tokens.insert(tokens.end(), list.begin(), list.end());
    end = size();
  }
};

}  // namespace

std::vector<SampleResult> GpuBackend::do_sample(const Rows& logits, std::span<const SampleRequest> requests) {
  if (requests.empty()) return {};
  if (!is_full(logits)) throw Error(ErrorCode::internal, "sample: logits should have full precision");
  const Entered scope(*context_);
  const Questions questions(requests);
  const size_t rows = requests.size(), most = static_cast<size_t>(questions.most_candidates);
  const int slices = sample_slices(static_cast<int>(logits.width));
  const size_t parts = rows * static_cast<size_t>(slices);

  Layout16 layout;
  const size_t rows_at = layout.add(rows * sizeof(SampleRow));
  const size_t tokens_at = layout.add(questions.tokens.size() * sizeof(int)), questions_end = layout.end();
  const size_t parts_at = layout.add(parts * sizeof(SamplePart));
  const size_t part_candidates_at = layout.add(parts * most * sizeof(DeviceCandidate));
  const size_t before = sample_.piece() ? sample_.piece()->bytes() : 0;
  const Buffer& memory = sample_.reserve(queue_, layout.end());
  if (memory.bytes() != before) questions_.clear();
  const Buffer& done = sample_done_.reserve(queue_, rows * sizeof(unsigned), true);

  std::vector<std::byte> up(questions_end);
  std::memcpy(up.data() + rows_at, questions.rows.data(), rows * sizeof(SampleRow));
  if (!questions.tokens.empty())
    std::memcpy(up.data() + tokens_at, questions.tokens.data(), questions.tokens.size() * sizeof(int));
  if (up != questions_) {  // the rules for the next token are mostly those of the last
    questions_.clear();
    queue_.upload(memory.address(), up);
    questions_ = up;
  }
  // The answers are few: the kernel writes them straight into the host's memory.
  Layout16 answers;
  const size_t answers_at = answers.add(rows * sizeof(SampleAnswer));
  const size_t candidates_at = answers.add(rows * most * sizeof(DeviceCandidate));
  if (!answers_ || answers_->bytes() < answers.end())
    answers_ = std::make_unique<PinnedBuffer>(context_, answers.end());
  std::byte* const down = answers_->data();
  const SampleArgs args{static_cast<const float*>(any_rows(logits)),
                        static_cast<Stride>(logits.stride),
                        memory.pointer<const SampleRow>(rows_at),
                        memory.pointer<const int>(tokens_at),
                        memory.pointer<SamplePart>(parts_at),
                        memory.pointer<DeviceCandidate>(part_candidates_at),
                        done.pointer<unsigned>(),
                        reinterpret_cast<SampleAnswer*>(down + answers_at),
                        reinterpret_cast<DeviceCandidate*>(down + candidates_at),
                        static_cast<int>(rows),
                        static_cast<int>(logits.width),
                        slices,
                        questions.most_candidates};
  queue_.launch(kernels_.sample, shape_of(args), args);
  queue_.synchronize();

  std::vector<SampleResult> results(rows);
  for (size_t i = 0; i < rows; ++i) {
    SampleAnswer answer;
    std::memcpy(&answer, down + answers_at + i * sizeof answer, sizeof answer);
    if (answer.not_numbers != 0)
      throw Error(ErrorCode::device, "the device computed a value that is not a number");
    results[i].probe_probability = answer.probe_probability;
    for (size_t c = 0; c < std::min(static_cast<size_t>(std::max(answer.count, 0)), most); ++c) {
      DeviceCandidate candidate;
      std::memcpy(&candidate, down + candidates_at + (i * most + c) * sizeof candidate, sizeof candidate);
      results[i].candidates.push_back({candidate.token, candidate.score});
    }
  }
  return results;
}

}  // namespace sotto::gpu
