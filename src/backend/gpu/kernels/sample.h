#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/reduce.h"

// Choosing tokens from rows of logits; only the answer leaves the device.
namespace sotto::gpu {

inline constexpr int kSampleTeams = static_cast<int>(kSampleThreads) / 32;
inline constexpr int kSliceEach = kSampleSlice / static_cast<int>(kSampleThreads);  // tokens per thread
inline constexpr int kNoToken = 0x7fffffff;

__device__ __forceinline__ float power_of_e(float x) {
  return exp2_approximate(x * kLog2E);
}

// --- candidates: higher scores first, then lower tokens ---
__device__ __forceinline__ bool is_better(DeviceCandidate a, DeviceCandidate b) {
  return a.score > b.score || (a.score == b.score && a.token < b.token);
}

// The best of the block's threads' candidates, in every thread.
__device__ __forceinline__ DeviceCandidate block_best(DeviceCandidate mine) {
  __shared__ DeviceCandidate team_best[kSampleTeams];
  const auto compare = [&](int mask) {
    const DeviceCandidate other{shuffle_xor(mine.token, mask), shuffle_xor(mine.score, mask)};
    if (is_better(other, mine)) mine = other;
  };
  compare(16);
  compare(8);
  compare(4);
  compare(2);
  compare(1);
  barrier();
  if (thread_id() % 32 == 0) team_best[thread_id() / 32] = mine;
  barrier();
  mine = team_best[0];
#pragma unroll
  for (int i = 1; i < kSampleTeams; ++i)
    if (is_better(team_best[i], mine)) mine = team_best[i];
  return mine;
}

// --- slices ---
struct Slice {
  int first, count;
  bool is_time;
};

// Text is cut from token 0 on, timestamps from the first one on.
__device__ __forceinline__ Slice slice_of(const SampleArgs& args, const SampleRow& row, int index) {
  const int text = row.timestamp_begin >= 0 ? row.timestamp_begin : args.vocabulary;
  const int text_slices = (text + kSampleSlice - 1) / kSampleSlice;
  const bool is_time = index >= text_slices;
  const int first = is_time ? text + (index - text_slices) * kSampleSlice : index * kSampleSlice;
  const int left = (is_time ? args.vocabulary : text) - first;
  return {first, left < 0 ? 0 : left < kSampleSlice ? left : kSampleSlice, is_time};
}

// Takes out of a slice's logits, which the block has just put there, what is not allowed.
__device__ __forceinline__ void apply_rules(const SampleArgs& args, const SampleRow& row, const float* logits,
                                            const Slice& slice, float (&allowed)[kSampleSlice]) {
  const int step = static_cast<int>(kSampleThreads);
  barrier();
  if (row.penalised_begin < row.penalised_end) {
    for (int i = row.penalised_begin + thread_id(); i < row.penalised_end; i += step) {
      const int token = args.tokens[i];
      if (token < slice.first || token >= slice.first + slice.count) continue;
      const float logit = logits[token];  // the original: a token listed twice is penalised once
      allowed[token - slice.first] = logit > 0 ? logit / row.penalty : logit * row.penalty;
    }
    barrier();
  }
  for (int i = row.suppressed_begin + thread_id(); i < row.suppressed_end; i += step) {
    const int token = args.tokens[i];
    if (token >= slice.first && token < slice.first + slice.count) allowed[token - slice.first] = kLowest;
  }
  for (int i = row.banned_begin; i < row.banned_end; i += 2) {
    const int begin = args.tokens[i] - slice.first, end = args.tokens[i + 1] - slice.first;
    for (int k = (begin > 0 ? begin : 0) + thread_id(); k < end && k < slice.count; k += step)
      allowed[k] = kLowest;
  }
  barrier();
}

// The best tokens of a slice, in order, into `found`; returns how many there are.
__device__ __forceinline__ int best_of_slice(const Slice& slice, const float (&allowed)[kSampleSlice],
                                             int wanted, DeviceCandidate* found) {
  unsigned taken = 0;  // a bit for each of this thread's tokens
  const auto next = [&] {
    DeviceCandidate best{kNoToken, kLowest};
#pragma unroll
    for (int i = 0; i < kSliceEach; ++i) {
      const int at = thread_id() + i * static_cast<int>(kSampleThreads);
      if ((taken >> i & 1U) == 0 && allowed[at] > best.score) best = {slice.first + at, allowed[at]};
    }
    return best;
  };
  DeviceCandidate mine = next();
  for (int count = 0; count < wanted; ++count) {
    const DeviceCandidate best = block_best(mine);
    if (best.token == kNoToken) return count;
    if (thread_id() == 0) found[count] = best;
    if (best.token == mine.token) {
      taken |= 1U << (mine.token - slice.first) / static_cast<int>(kSampleThreads);
      mine = next();
    }
  }
  return wanted;
}

__device__ __forceinline__ void sample_slice(const SampleArgs& args, const SampleRow& row,
                                             const float* logits, const Slice& slice, SamplePart& part,
                                             DeviceCandidate* candidates, float (&allowed)[kSampleSlice]) {
  float raw[kSliceEach], raw_largest = kLowest;
#pragma unroll
  for (int i = 0; i < kSliceEach; ++i) {
    const int at = thread_id() + i * static_cast<int>(kSampleThreads);
    raw[i] = at < slice.count ? logits[slice.first + at] : kLowest;
    allowed[at] = raw[i];
    raw_largest = larger(raw_largest, raw[i] < -kLowest ? raw[i] : -kLowest);  // no number counts as infinite
  }
  raw_largest = block_max<kSampleThreads>(raw_largest);
  const bool not_numbers = raw_largest == -kLowest;
  float raw_sum = 0;
  if (row.probe >= 0 && raw_largest > kLowest) {
#pragma unroll
    for (int i = 0; i < kSliceEach; ++i) raw_sum += power_of_e(raw[i] - raw_largest);
    raw_sum = block_sum<kSampleThreads>(raw_sum);
  }

  apply_rules(args, row, logits, slice, allowed);
  float largest = kLowest, sum = 0, warm_sum = 0;
#pragma unroll
  for (int i = 0; i < kSliceEach; ++i)
    largest = larger(largest, allowed[thread_id() + i * static_cast<int>(kSampleThreads)]);
  largest = block_max<kSampleThreads>(largest);
  int count = 0;
  if (largest > kLowest && !not_numbers) {
#pragma unroll
    for (int i = 0; i < kSliceEach; ++i)
      sum += power_of_e(allowed[thread_id() + i * static_cast<int>(kSampleThreads)] - largest);
    sum = block_sum<kSampleThreads>(sum);
    if (row.temperature > 0) {
      const float warm = 1 / row.temperature;
#pragma unroll
      for (int i = 0; i < kSliceEach; ++i)
        warm_sum +=
            power_of_e((allowed[thread_id() + i * static_cast<int>(kSampleThreads)] - largest) * warm);
      warm_sum = block_sum<kSampleThreads>(warm_sum);
    } else {
      count = best_of_slice(slice, allowed, row.candidates, candidates);
    }
  }
  if (thread_id() == 0) part = {raw_largest, raw_sum, largest, sum, warm_sum, not_numbers, count, 0};
}

// --- a whole row ---
// Sums of exponentials over parts: of those from `first` on, relative to the largest among them. For one
// team.
struct PartSums {
  float largest, sum;
};
__device__ __forceinline__ PartSums add_parts(int first, int count, const float* largest_of,
                                              const float* sum_of) {
  const int lane = thread_id() % 32;
  float largest = kLowest, sum = 0;
  for (int i = first + lane; i < count; i += 32) largest = larger(largest, largest_of[i]);
  largest = team_max(largest);
  for (int i = first + lane; i < count; i += 32)
    if (largest_of[i] > kLowest) sum = multiply_add(sum_of[i], power_of_e(largest_of[i] - largest), sum);
  return {largest, team_sum(sum)};
}

// The likeliest tokens of all slices from `first` on: each thread walks along the lists of its slices.
__device__ __forceinline__ int merge_candidates(const SampleArgs& args, const SamplePart* parts,
                                                const DeviceCandidate* lists, int first, int wanted,
                                                float normaliser, DeviceCandidate* out) {
  const int step = static_cast<int>(kSampleThreads);
  DeviceCandidate last{-1, -kLowest};  // the one chosen last: all better ones are chosen already
  for (int count = 0; count < wanted; ++count) {
    DeviceCandidate mine{kNoToken, kLowest};
    for (int slice = first + thread_id(); slice < args.slices; slice += step)
      for (int i = 0; i < parts[slice].count; ++i) {
        const DeviceCandidate candidate = lists[static_cast<long long>(slice) * args.candidates + i];
        if (!is_better(last, candidate)) continue;
        if (is_better(candidate, mine)) mine = candidate;
        break;  // the list is in order
      }
    last = block_best(mine);
    if (last.token == kNoToken) return count;
    if (thread_id() == 0) out[count] = {last.token, last.score - normaliser};
  }
  return wanted;
}

// The token at which the cumulated probability, in the order of the tokens, passes `uniform`.
__device__ __forceinline__ DeviceCandidate draw(const SampleArgs& args, const SampleRow& row,
                                                const float* logits, const SamplePart* parts, int first,
                                                float largest, float (&allowed)[kSampleSlice]) {
  constexpr int kRuns = 64, kRun = kSampleSlice / kRuns;
  __shared__ int holder;
  __shared__ double left, run_sums[kRuns];
  __shared__ DeviceCandidate drawn;
  const float warm = 1 / row.temperature;
  const auto weight_of = [&](int slice) {
    const float best = parts[slice].largest;
    return best > kLowest ? parts[slice].warm_sum * power_of_e((best - largest) * warm) : 0.0F;
  };
  if (thread_id() == 0) {
    double total = 0;
    for (int i = first; i < args.slices; ++i) total += static_cast<double>(weight_of(i));
    double rest = row.uniform * total, before = rest;
    int found = first;  // the last slice with any weight, should rounding leave the last bit to nobody
    for (int i = first; i < args.slices && rest >= 0; ++i) {
      const float weight = weight_of(i);
      if (!(weight > 0)) continue;
      found = i;
      before = rest;
      rest -= static_cast<double>(weight);
    }
    holder = found;
    left = before;
  }
  barrier();
  const Slice slice = slice_of(args, row, holder);
  for (int i = thread_id(); i < kSampleSlice; i += static_cast<int>(kSampleThreads))
    allowed[i] = i < slice.count ? logits[slice.first + i] : kLowest;
  apply_rules(args, row, logits, slice, allowed);
  const auto value_of = [&](int i) { return static_cast<double>(power_of_e((allowed[i] - largest) * warm)); };
  if (thread_id() < kRuns) {
    double sum = 0;
    for (int i = 0; i < kRun; ++i) sum += value_of(thread_id() * kRun + i);
    run_sums[thread_id()] = sum;
  }
  barrier();
  if (thread_id() == 0) {
    double rest = left, before = rest;
    int run = 0;
    for (int i = 0; i < kRuns && rest >= 0; ++i) {
      if (!(run_sums[i] > 0)) continue;
      run = i;
      before = rest;
      rest -= run_sums[i];
    }
    rest = before;
    int found = -1;
    for (int i = run * kRun; i < (run + 1) * kRun && (rest >= 0 || found < 0); ++i) {
      if (allowed[i] == kLowest) continue;
      found = i;
      rest -= value_of(i);
    }
    drawn = {slice.first + found, allowed[found]};
  }
  barrier();
  return drawn;
}

// The sums of all slices, brought near once; the space is that of a slice.
struct NearParts {
  const float *largest, *sum, *raw_largest, *raw_sum;
  bool not_numbers;

  __device__ __forceinline__ NearParts(const SamplePart* parts, int slices, float (&space)[kSampleSlice])
      : largest(space), sum(space + slices), raw_largest(space + 2 * slices), raw_sum(space + 3 * slices) {
    float bad = 0;
    for (int i = thread_id(); i < slices; i += static_cast<int>(kSampleThreads)) {
      const SamplePart part = parts[i];
      space[i] = part.largest;
      space[slices + i] = part.sum;
      space[2 * slices + i] = part.raw_largest;
      space[3 * slices + i] = part.raw_sum;
      if (part.not_numbers) bad = 1;
    }
    not_numbers = block_max<kSampleThreads>(bad) != 0;  // its barriers make the rest visible, too
  }
};
static_assert(4 * sample_slices(1'000'000) <= kSampleSlice);  // the largest vocabulary that a model may have

__device__ __forceinline__ void combine_slices(const SampleArgs& args, const SampleRow& row, int index,
                                               const float* logits, float (&space)[kSampleSlice]) {
  const SamplePart* parts = args.parts + static_cast<long long>(index) * args.slices;
  DeviceCandidate* out = args.candidates_out + static_cast<long long>(index) * args.candidates;
  const NearParts near(parts, args.slices, space);
  SampleAnswer answer{near.not_numbers, 0, 0.0F, 0};
  if (!near.not_numbers) {
    if (row.probe >= 0) {
      const PartSums raw = add_parts(0, args.slices, near.raw_largest, near.raw_sum);
      if (raw.largest > kLowest)
        answer.probe_probability = power_of_e(logits[row.probe] - raw.largest) / raw.sum;
    }
    int first = 0;  // slices before it are banned
    if (row.timestamp_begin >= 0) {
      // When all timestamps together are likelier than the likeliest text token, one of them comes next.
      const int text_slices = (row.timestamp_begin + kSampleSlice - 1) / kSampleSlice;
      const PartSums times = add_parts(text_slices, args.slices, near.largest, near.sum);
      const PartSums text = add_parts(0, text_slices, near.largest, near.sum);
      if (times.largest > kLowest && times.largest + log2_approximate(times.sum) * kLn2 > text.largest)
        first = text_slices;
    }
    const PartSums all = add_parts(first, args.slices, near.largest, near.sum);
    if (all.largest > kLowest) {
      const float normaliser = all.largest + log2_approximate(all.sum) * kLn2;
      if (row.temperature > 0) {
        const DeviceCandidate drawn = draw(args, row, logits, parts, first, all.largest, space);
        if (thread_id() == 0) out[0] = {drawn.token, drawn.score - normaliser};
        answer.count = 1;
      } else {
        answer.count = merge_candidates(
            args, parts, args.part_candidates + static_cast<long long>(index) * args.slices * args.candidates,
            first, row.candidates, normaliser, out);
      }
    }
  }
  if (thread_id() == 0) args.answers[index] = answer;
}

__device__ __forceinline__ void sample_row(const SampleArgs& args) {
  __shared__ float allowed[kSampleSlice];
  const int slice = block_id_x(), index = block_id_y();
  const SampleRow row = args.rows[index];
  const float* logits = args.logits + index * args.stride;
  const long long place = static_cast<long long>(index) * args.slices + slice;
  sample_slice(args, row, logits, slice_of(args, row, slice), args.parts[place],
               args.part_candidates + place * args.candidates, allowed);
  if (is_last_block(args.done + index, args.slices)) combine_slices(args, row, index, logits, allowed);
}

}  // namespace sotto::gpu
