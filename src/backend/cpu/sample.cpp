#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/cpu_types.h"
#include "base/error.h"

namespace sotto::cpu {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr size_t kDrawBlock = 512;  // tokens

// One row on its way to an answer. `allowed` is a working copy of the logits in which banned tokens are minus
// infinity.
class RowSampler {
 public:
  RowSampler(const RowKernels& kernels, const float* logits, size_t count, float* allowed)
      : kernels_(kernels), logits_(logits), count_(count), allowed_(allowed) {}

  // False where the logits are no numbers. result.candidates must have the capacity for the request.
  bool run(const SampleRequest& request, SampleResult& result) {
    const float largest = kernels_.maximum(logits_, count_);
    if (!(largest < std::numeric_limits<float>::infinity())) return false;
    if (largest == kMinusInfinity) return true;
    if (request.probe >= 0)
      result.probe_probability =
          std::exp(logits_[request.probe] - largest) / kernels_.sum_exp(logits_, count_, largest);
    ban(request);
    prefer_timestamps(request.timestamp_begin);
    const float best = kernels_.maximum(allowed_, count_);
    if (best == kMinusInfinity) return true;
    const float normaliser = best + std::log(kernels_.sum_exp(allowed_, count_, best));
    if (request.temperature > 0) {
      const size_t token = draw(best, request.temperature, request.uniform);
      result.candidates.push_back({static_cast<int32_t>(token), allowed_[token] - normaliser});
    } else {
      choose_best(static_cast<size_t>(request.candidates), normaliser, result.candidates);
    }
    return true;
  }

 private:
  void ban(const SampleRequest& request) {
    std::copy_n(logits_, count_, allowed_);
    for (const int32_t token :
         request.penalised) {  // from the original: a token listed twice is penalised once
      const float logit = logits_[token];
      allowed_[token] = logit > 0 ? logit / request.penalty : logit * request.penalty;
    }
    for (const int32_t token : request.suppressed) allowed_[token] = kMinusInfinity;
    for (const TokenRange& range : request.banned)
      std::fill(allowed_ + range.first, allowed_ + range.last, kMinusInfinity);
  }

  // When all timestamps together are likelier than the likeliest text token, one of them comes next.
  void prefer_timestamps(int32_t timestamp_begin) {
    if (timestamp_begin < 0) return;
    const size_t begin = static_cast<size_t>(timestamp_begin);
    const float best_time = kernels_.maximum(allowed_ + begin, count_ - begin);
    if (best_time == kMinusInfinity) return;
    const float all_times =
        best_time + std::log(kernels_.sum_exp(allowed_ + begin, count_ - begin, best_time));
    if (all_times > kernels_.maximum(allowed_, begin)) std::fill_n(allowed_, begin, kMinusInfinity);
  }

  void choose_best(size_t wanted, float normaliser, std::vector<Candidate>& best) const {
    float threshold = kMinusInfinity;
    for (size_t token = kernels_.next_above(allowed_, 0, count_, threshold); token < count_;
         token = kernels_.next_above(allowed_, token + 1, count_, threshold)) {
      if (best.size() == wanted) best.pop_back();
      const Candidate candidate{static_cast<int32_t>(token), allowed_[token]};
      // Behind its equals: among them the lower token comes first.
      const auto place = std::upper_bound(
          best.begin(), best.end(), candidate,
          [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
      best.insert(place, candidate);
      if (best.size() == wanted) threshold = best.back().log_probability;
    }
    for (Candidate& candidate : best) candidate.log_probability -= normaliser;
  }

  // The token at which the cumulated probability passes `uniform`. Blocks are summed by the kernel; only the
  // one that holds the token is walked token by token.
  size_t draw(float best, float temperature, double uniform) const {
    double total = 0;
    float block[kDrawBlock];
    for (size_t first = 0; first < count_; first += kDrawBlock)
      total += load_block(first, best, temperature, block);
    double left = uniform * total;
    size_t holder =
        0;  // the last block with any weight, should rounding leave the last bit of `left` to nobody
    for (size_t first = 0; first < count_ && left >= 0; first += kDrawBlock) {
      const double sum = load_block(first, best, temperature, block);
      if (sum > 0) holder = first;
      left -= sum;
    }
    left += load_block(holder, best, temperature, block);
    size_t token = holder;
    for (size_t i = 0; i < std::min(kDrawBlock, count_ - holder) && left >= 0; ++i) {
      if (block[i] == kMinusInfinity) continue;
      token = holder + i;
      left -= std::exp(static_cast<double>(block[i]));
    }
    return token;
  }

  // The logits of one block at this temperature, relative to the best; returns the sum of their exponentials.
  double load_block(size_t first, float best, float temperature, float* block) const {
    const size_t size = std::min(kDrawBlock, count_ - first);
    for (size_t i = 0; i < size; ++i) block[i] = (allowed_[first + i] - best) / temperature;
    return kernels_.maximum(block, size) == kMinusInfinity ? 0.0 : kernels_.sum_exp(block, size, 0.0f);
  }

  const RowKernels& kernels_;
  const float* const logits_;
  const size_t count_;
  float* const allowed_;
};

}  // namespace

std::vector<SampleResult> CpuBackend::do_sample(const Rows& logits, std::span<const SampleRequest> requests) {
  std::vector<SampleResult> results(requests.size());
  for (size_t i = 0; i < results.size(); ++i)
    results[i].candidates.reserve(static_cast<size_t>(std::max(requests[i].candidates, 1)));
  std::atomic<bool> all_numbers = true;
  task_scratch_.reserve(logits.width * sizeof(float));
  pool_.parallel_for(requests.size(), [&](size_t i) {
    const TaskScratch::Lease scratch(task_scratch_);
    RowSampler sampler(kernels_.rows, row_data(logits, i), logits.width, scratch.data());
    if (!sampler.run(requests[i], results[i])) all_numbers = false;
  });
  if (!all_numbers) throw Error(ErrorCode::device, "the device computed a value that is not a number");
  return results;
}

}  // namespace sotto::cpu
