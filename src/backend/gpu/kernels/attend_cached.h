#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/pieces.h"
#include "backend/gpu/kernels/reduce.h"

// One query against cached keys and values: what a decoding step spends its bandwidth on. A block of 128
// threads works on one head of one row; 8 threads share a position, so that a team reads 4 whole keys of 128
// bytes with one instruction, and several such loads are under way before the first is used.
namespace sotto::gpu {

inline constexpr int kSpan = kCrossChunk;  // positions that are worked on together
inline constexpr int kGroups = static_cast<int>(kHeadThreads) / 8;
inline constexpr int kEach = kSpan / kGroups;  // positions per group of 8 threads
static_assert(kEach * kGroups == kSpan);

// Adds to each value that of the thread whose number differs by this bit.
template <int Count>
__device__ __forceinline__ void add_from(float (&values)[Count], int bit) {
  float others[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i) others[i] = values[i];
  shuffle_xor(others, bit);
#pragma unroll
  for (int i = 0; i < Count; ++i) values[i] += others[i];
}

// The state of one thread: its elements of the weighted sum of values over its group's positions. A thread
// has piece (thread % 8), and, in heads wider than 64, piece (thread % 8 + 8).
template <class T, int Pieces, bool Wide>
struct HeadAttention {
  static constexpr int kBatch = sizeof(T) == 2 ? 6 : 3;  // positions under way per thread
  static_assert(kEach % kBatch == 0);

  int head_width;
  float query[Pieces][kPiece];
  float sums[Pieces][kPiece];
  float largest = kLowest;  // of the scores, the same in the whole block
  float weights = 0;        // sum over the group's positions

  // Scores are in powers of two.
  __device__ __forceinline__ HeadAttention(const T* q, int width, float scale) : head_width(width) {
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      fetch(q, p).unpack(query[p]);
#pragma unroll
      for (int i = 0; i < kPiece; ++i) {
        query[p][i] *= scale * kLog2E;
        sums[p][i] = 0;
      }
    }
  }

  static __device__ __forceinline__ int group() {
    return thread_id() / 8;
  }
  static __device__ __forceinline__ int element(int piece) {
    return (thread_id() % 8 + 8 * piece) * kPiece;
  }
  __device__ __forceinline__ Piece<T> fetch(const T* head, int piece, bool wanted = true) const {
    const int at = element(piece);
    return Wide ? Piece<T>::load_once_if(wanted && at < head_width, head + at)
                : Piece<T>::gather(head + at, wanted ? head_width - at : 0);
  }

  template <class At>
  __device__ __forceinline__ void fetch_batch(At at, int b, int count,
                                              Piece<T> (&batch)[kBatch][Pieces]) const {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int position = group() + (b * kBatch + i) * kGroups;
#pragma unroll
      for (int p = 0; p < Pieces; ++p) batch[i][p] = fetch(at(position), p, position < count);
    }
  }

  // This thread's part of a score: the group's parts are still to be added up.
  __device__ __forceinline__ float partial_score(const Piece<T> (&key)[Pieces]) const {
    float dot = 0;
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      float values[kPiece];
      key[p].unpack(values);
#pragma unroll
      for (int i = 0; i < kPiece; ++i) dot = multiply_add(query[p][i], values[i], dot);
    }
    return dot;
  }

  // Adds positions 0 .. count - 1 (1 <= count <= kSpan); key(i) and value(i) say where they lie.
  template <class Key, class Value>
  __device__ __forceinline__ void add(int count, Key key, Value value) {
    if constexpr (Wide)
      add_batches(count, key, value);
    else
      add_one_by_one(count, key, value);
  }

  // The next batch is always fetched before the last one is used.
  template <class Key, class Value>
  __device__ __forceinline__ void add_batches(int count, Key key, Value value) {
    constexpr int kBatches = kEach / kBatch;
    static_assert(kBatches > 1);
    Piece<T> batches[2][kBatch][Pieces];
    float scores[kEach];
    float best = kLowest;
    fetch_batch(key, 0, count, batches[0]);
#pragma unroll
    for (int b = 0; b < kBatches; ++b) {
      if (b + 1 < kBatches)
        fetch_batch(key, b + 1, count, batches[(b + 1) % 2]);
      else
        fetch_batch(value, 0, count, batches[(b + 1) % 2]);
      best = larger(best, score_batch(b, count, batches[b % 2], scores));
    }
    fetch_batch(value, 1, count, batches[(kBatches + 1) % 2]);
    agree_on(best);
#pragma unroll
    for (int b = 0; b < kBatches; ++b) {
      if (b > 0 && b + 1 < kBatches) fetch_batch(value, b + 1, count, batches[(kBatches + b + 1) % 2]);
      if (b * kBatch * kGroups < count) {
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
          add_value(exp2_approximate(scores[b * kBatch + i] - largest), batches[(kBatches + b) % 2][i]);
      }
    }
  }

  // The same sums in the same order, without haste.
  template <class Key, class Value>
  __device__ __forceinline__ void add_one_by_one(int count, Key key, Value value) {
    __shared__ float scores[kSpan];
    Piece<T> piece[Pieces];
    float best = kLowest;
    barrier();  // the scores of the last positions are used
#pragma unroll 1
    for (int first = 0; first < count; first += kGroups) {
      const int position = first + group();
#pragma unroll
      for (int p = 0; p < Pieces; ++p) piece[p] = fetch(key(position), p, position < count);
      const float score = team_sum<8>(partial_score(piece));
      if (position < count) best = larger(best, score);
      if (thread_id() % 8 == 0) scores[position] = position < count ? score : kLowest;
    }
    agree_on(best);
#pragma unroll 1
    for (int first = 0; first < count; first += kGroups) {
      const int position = first + group();
#pragma unroll
      for (int p = 0; p < Pieces; ++p) piece[p] = fetch(value(position), p, position < count);
      add_value(exp2_approximate(scores[position] - largest), piece);
    }
  }

  // The block's largest score so far; what was added before it is scaled down to it.
  __device__ __forceinline__ void agree_on(float best) {
    best = larger(largest, block_max<kHeadThreads>(best));
    const float shrink = exp2_approximate(largest - best);
    largest = best;
    weights *= shrink;
#pragma unroll
    for (int p = 0; p < Pieces; ++p)
#pragma unroll
      for (int i = 0; i < kPiece; ++i) sums[p][i] *= shrink;
  }

  // The scores of a batch, and the largest of them.
  __device__ __forceinline__ float score_batch(int b, int count, const Piece<T> (&batch)[kBatch][Pieces],
                                               float (&scores)[kEach]) const {
    float best = kLowest;
#pragma unroll
    for (int i = 0; i < kBatch; ++i) scores[b * kBatch + i] = kLowest;
    if (b * kBatch * kGroups < count) {
      float dots[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) dots[i] = partial_score(batch[i]);
      add_from(dots, 4);  // all scores side by side: a shuffle takes long
      add_from(dots, 2);
      add_from(dots, 1);
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (group() + (b * kBatch + i) * kGroups < count) scores[b * kBatch + i] = dots[i];
        best = larger(best, scores[b * kBatch + i]);
      }
    }
    return best;
  }

  __device__ __forceinline__ void add_value(float weight, const Piece<T> (&value)[Pieces]) {
    weights += weight;
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      float values[kPiece];
      value[p].unpack(values);
#pragma unroll
      for (int i = 0; i < kPiece; ++i) sums[p][i] = multiply_add(weight, values[i], sums[p][i]);
    }
  }

  // Adds up the groups: thread d returns element d of the sum of values (0 beyond the head's width), and all
  // get the sum of weights.
  __device__ __forceinline__ float combine(float& all_weights) {
    constexpr int kTeams = static_cast<int>(kHeadThreads) / 32;
    __shared__ float team_sums[kTeams][Pieces * 8 * kPiece];
    __shared__ float team_weights[kTeams];
    const int team = thread_id() / 32;
    weights += shuffle_xor(weights, 8);
    weights += shuffle_xor(weights, 16);
    if (thread_id() % 32 == 0) team_weights[team] = weights;
#pragma unroll
    for (int p = 0; p < Pieces; ++p) {
      add_from(sums[p], 8);
      add_from(sums[p], 16);
      if (thread_id() % 32 < 8) {
#pragma unroll
        for (int i = 0; i < kPiece; ++i) team_sums[team][element(p) + i] = sums[p][i];
      }
    }
    barrier();
    all_weights = team_weights[0];
    float sum = thread_id() < head_width ? team_sums[0][thread_id()] : 0.0F;
#pragma unroll
    for (int i = 1; i < kTeams; ++i) {
      all_weights += team_weights[i];
      if (thread_id() < head_width) sum += team_sums[i][thread_id()];
    }
    return sum;
  }
};

// Whether a head can be read 16 bytes at a time, one piece per thread.
template <class T>
__device__ __forceinline__ bool is_wide_head(int head_width) {
  return head_width <= 64 && head_width % kPiece == 0;
}

// --- the decoder's own past ---
template <class T, int Pieces, bool Wide>
__device__ __forceinline__ void attend_self_head(const SelfAttentionArgs& args) {
  const int head = block_id_x(), index = block_id_y();
  const int width = args.heads * args.head_width, offset = head * args.head_width;
  const DeviceRow row = args.rows[index];
  const T* qkv = static_cast<const T*>(args.qkv) + offset;
  T* cache =
      static_cast<T*>(args.cache) + static_cast<long long>(row.slot) * args.capacity * 2 * width + offset;
  const T* own = qkv + index * args.qkv_stride;
  if (thread_id() < args.head_width) {
    T* kept = cache + row.position * 2LL * width + thread_id();
    kept[0] = own[width + thread_id()];
    kept[width] = own[2 * width + thread_id()];
  }

  const int fresh = row.position - (index - row.run_begin);  // positions from here on are rows of this call
  HeadAttention<T, Pieces, Wide> attention(own, args.head_width, args.scale);
  for (int first = 0; first <= row.position; first += kSpan) {
    const auto key = [&](int i) -> const T* {
      const int position = first + i;
      return position >= fresh ? qkv + (row.run_begin + position - fresh) * args.qkv_stride + width
                               : cache + position * 2LL * width;
    };
    const int left = row.position + 1 - first;
    attention.add(left < kSpan ? left : kSpan, key, [&](int i) { return key(i) + width; });
  }
  float weights;
  const float sum = attention.combine(weights);
  if (thread_id() < args.head_width)
    store(static_cast<T*>(args.out) + index * args.out_stride + offset + thread_id(), sum / weights);
}

template <class T>
__device__ __forceinline__ void attend_self(const SelfAttentionArgs& args) {
  if (is_wide_head<T>(args.head_width) && is_aligned(static_cast<const T*>(args.qkv), args.qkv_stride) &&
      is_aligned(static_cast<const T*>(args.cache), 0))
    attend_self_head<T, 1, true>(args);
  else
    attend_self_head<T, 2, false>(args);
}

// --- encoded audio ---
// Puts the chunks of a head together, in order.
template <class T>
__device__ __forceinline__ void add_chunks(const CrossAttentionArgs& args, const float* partial, int chunks,
                                           T* out) {
  const int width = args.head_width, entry = width + 2;
  float largest = kLowest;
  for (int chunk = 0; chunk < chunks; ++chunk) largest = larger(largest, partial[chunk * entry + width]);
  float sum = 0, weights = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const float* part = partial + chunk * entry;
    const float factor = exp2_approximate(part[width] - largest);
    weights = multiply_add(part[width + 1], factor, weights);
    if (thread_id() < width) sum = multiply_add(part[thread_id()], factor, sum);
  }
  if (thread_id() < width) store(out + thread_id(), sum / weights);
}

template <class T, int Pieces, bool Wide>
__device__ __forceinline__ void attend_cross_head(const CrossAttentionArgs& args) {
  const int head = block_id_x(), chunk = block_id_y(), index = block_id_z();
  const int width = args.heads * args.head_width, offset = head * args.head_width;
  const long long line = 2LL * width;
  const T* keys = static_cast<const T*>(args.cache) + offset +
                  (static_cast<long long>(args.rows[index].window) * args.positions + chunk * kSpan) * line;
  HeadAttention<T, Pieces, Wide> attention(
      static_cast<const T*>(args.query) + index * args.query_stride + offset, args.head_width, args.scale);
  const int left = args.positions - chunk * kSpan;
  attention.add(
      left < kSpan ? left : kSpan, [&](int i) { return keys + i * line; },
      [&](int i) { return keys + width + i * line; });

  const int chunks = (args.positions + kSpan - 1) / kSpan, entry = args.head_width + 2;
  const long long place = static_cast<long long>(index) * args.heads + head;
  float* partial = args.partial + place * chunks * entry;
  float weights;
  const float sum = attention.combine(weights);
  float* mine = partial + chunk * entry;
  if (thread_id() < args.head_width) mine[thread_id()] = sum;
  if (thread_id() == 0) {
    mine[args.head_width] = attention.largest;
    mine[args.head_width + 1] = weights;
  }
  if (is_last_block(args.done + place, chunks))
    add_chunks(args, partial, chunks, static_cast<T*>(args.out) + index * args.out_stride + offset);
}

template <class T>
__device__ __forceinline__ void attend_cross(const CrossAttentionArgs& args) {
  if (is_wide_head<T>(args.head_width) && is_aligned(static_cast<const T*>(args.query), args.query_stride) &&
      is_aligned(static_cast<const T*>(args.cache), 0))
    attend_cross_head<T, 1, true>(args);
  else
    attend_cross_head<T, 2, false>(args);
}

// The weights themselves, for word times: seldom, so in three plain passes.
template <class T>
__device__ __forceinline__ void cross_weights(const CrossWeightsArgs& args) {
  const int head = args.chosen[block_id_x()], index = block_id_y();
  const int width = args.heads * args.head_width, offset = head * args.head_width;
  const T* keys = static_cast<const T*>(args.cache) + offset +
                  static_cast<long long>(args.rows[index].window) * args.positions * 2 * width;
  float* out = args.out + (static_cast<long long>(index) * args.count + block_id_x()) * args.positions;
  HeadAttention<T, 2, false> attention(static_cast<const T*>(args.query) + index * args.query_stride + offset,
                                       args.head_width, args.scale);
  float best = kLowest;
  for (int first = 0; first < args.positions; first += kGroups) {
    const int position = first + thread_id() / 8;
    Piece<T> key[2];
#pragma unroll
    for (int p = 0; p < 2; ++p)
      key[p] = attention.fetch(keys + position * 2LL * width, p, position < args.positions);
    const float score = team_sum<8>(attention.partial_score(key));
    if (position >= args.positions) continue;
    best = larger(best, score);
    if (thread_id() % 8 == 0) out[position] = score;
  }
  best = block_max<kHeadThreads>(best);  // its barriers also make the scores visible to the block
  float sum = 0;
  for (int i = thread_id(); i < args.positions; i += static_cast<int>(kHeadThreads)) {
    out[i] = exp2_approximate(out[i] - best);
    sum += out[i];
  }
  sum = block_sum<kHeadThreads>(sum);
  for (int i = thread_id(); i < args.positions; i += static_cast<int>(kHeadThreads)) out[i] /= sum;
}

}  // namespace sotto::gpu
