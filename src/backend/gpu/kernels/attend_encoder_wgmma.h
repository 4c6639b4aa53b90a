#pragma once

// Full attention inside a window on Hopper, for heads of 64. A block takes 192 queries of one head at a time:
// three warpgroups of 64 queries each, which meet the same keys and values, 128 at a time, in a fixed order,
// brought by a producer warp into a ring. While one group works out its weights, the tensor cores multiply
// for the others. The products of queries and keys live in registers only.
#include "backend/gpu/kernels/hopper.h"

namespace sotto::gpu::attention_wgmma {

struct Block {
  unsigned queries, tiles, query_full, query_empty, key_full, key_empty, value_full, value_empty;
  int query_tiles, key_tiles, items;

  __device__ __forceinline__ Block(unsigned shared, const EncoderAttentionArgs& args) {
    queries = (shared + 1023) & ~1023U;
    tiles = queries + 2 * kQueryBytes;
    query_full = tiles + kStages * 2 * kTileBytes;
    query_empty = query_full + 2 * 8;
    key_full = query_empty + 2 * 8;
    key_empty = key_full + kStages * 8;
    value_full = key_empty + kStages * 8;
    value_empty = value_full + kStages * 8;
    query_tiles = (args.positions + kQueries - 1) / kQueries;
    key_tiles = (args.positions + kKeys - 1) / kKeys;
    items = query_tiles * args.heads * args.windows;
  }
  __device__ __forceinline__ void init_barriers() const {
    for (int i = 0; i < 2; ++i) {
      hopper::barrier_init(query_full + i * 8, 1);
      hopper::barrier_init(query_empty + i * 8, kGroups);
    }
    for (int i = 0; i < kStages; ++i) {
      hopper::barrier_init(key_full + i * 8, 1);
      hopper::barrier_init(key_empty + i * 8, kGroups);
      hopper::barrier_init(value_full + i * 8, 1);
      hopper::barrier_init(value_empty + i * 8, kGroups);
    }
    hopper::fence_barrier_init();
  }
  __device__ __forceinline__ unsigned keys(int stage) const { return tiles + stage * 2 * kTileBytes; }
  __device__ __forceinline__ unsigned values(int stage) const { return keys(stage) + kTileBytes; }
};

// Queries of one head of one window.
struct Item {
  int first_query, head, window;
  __device__ __forceinline__ Item(const Block& block, const EncoderAttentionArgs& args, int index)
      : first_query(index % block.query_tiles * kQueries),
        head(index / block.query_tiles % args.heads),
        window(index / block.query_tiles / args.heads) {}
};

__device__ __forceinline__ void bring(const WgmmaAttentionArgs& args, const Block& block) {
  const EncoderAttentionArgs& a = args.attention;
  const int width = a.heads * kWidth;
  hopper::Ring<2> query;
  hopper::Ring<kStages> ring;
  for (int index = block_id_x(); index < block.items; index += block_count_x(), query.advance()) {
    const Item item(block, a, index);
    const int column = item.head * kWidth, row = item.window * a.positions;
    const unsigned full = block.query_full + query.stage * 8;
    hopper::barrier_wait(block.query_empty + query.stage * 8, query.parity ^ 1);
    hopper::barrier_expect(full, kQueryBytes);
    hopper::copy_box(block.queries + query.stage * kQueryBytes, &args.queries, column, row + item.first_query,
                     full);
    for (int tile = 0; tile < block.key_tiles; ++tile, ring.advance()) {
      const unsigned keys_full = block.key_full + ring.stage * 8,
                     values_full = block.value_full + ring.stage * 8;
      hopper::barrier_wait(block.key_empty + ring.stage * 8, ring.parity ^ 1);
      hopper::barrier_expect(keys_full, kTileBytes);
      hopper::copy_box(block.keys(ring.stage), &args.keys, width + column, row + tile * kKeys, keys_full);
      hopper::barrier_wait(block.value_empty + ring.stage * 8, ring.parity ^ 1);
      hopper::barrier_expect(values_full, kTileBytes);
      hopper::copy_box(block.values(ring.stage), &args.keys, 2 * width + column, row + tile * kKeys,
                       values_full);
    }
  }
}

__device__ __forceinline__ float quad_max(float value) {
  value = larger(value, shuffle_xor(value, 1));
  return larger(value, shuffle_xor(value, 2));
}
__device__ __forceinline__ float quad_sum(float value) {
  value += shuffle_xor(value, 1);
  return value + shuffle_xor(value, 2);
}

inline constexpr float kLowest = -1e30F;

// What a thread knows of its two rows, lane / 4 and lane / 4 + 8 of its warp's 16: columns 8 j + 2 (lane % 4)
// and the next.
struct Rows {
  float out[kWidth / 2], largest[2], total[2];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (float& value : out) value = 0;
    largest[0] = largest[1] = kLowest;
    total[0] = total[1] = 0;
  }

  // Scores become weights, exp2((score - largest) * factor); what was summed before is scaled to the new
  // largest score.
  __device__ __forceinline__ void weigh(float (&scores)[kKeys / 2], float factor) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = largest[half];
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
        top = larger(top, larger(scores[j * 4 + half * 2], scores[j * 4 + half * 2 + 1]));
      top = quad_max(top);
      const float shrink = exp2_approximate((largest[half] - top) * factor), base = top * factor;
      largest[half] = top;
      float sum = 0;
#pragma unroll
      for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
        for (int e = j * 4 + half * 2; e < j * 4 + half * 2 + 2; ++e) {
          scores[e] = exp2_approximate(multiply_add(scores[e], factor, -base));
          sum += scores[e];
        }
      total[half] = total[half] * shrink + sum;
#pragma unroll
      for (int j = 0; j < kWidth / 8; ++j) {
        out[j * 4 + half * 2] *= shrink;
        out[j * 4 + half * 2 + 1] *= shrink;
      }
    }
  }
};

template <class T>
__device__ __forceinline__ void write(const EncoderAttentionArgs& args, const Item& item, const Rows& rows,
                                      int group) {
  const int lane = thread_id() % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int query = item.first_query + group * 64 + thread_id() / 32 % 4 * 16 + half * 8 + lane / 4;
    const float inverse = 1.0F / quad_sum(rows.total[half]);
    if (query >= args.positions) continue;
    auto* to = static_cast<unsigned short*>(args.out) +
               (static_cast<long long>(item.window) * args.positions + query) * args.out_stride +
               item.head * kWidth + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < kWidth / 8; ++j)
      *reinterpret_cast<unsigned*>(to + j * 8) =
          Pair<T>::pack(rows.out[j * 4 + half * 2] * inverse, rows.out[j * 4 + half * 2 + 1] * inverse);
  }
}

template <class T>
__device__ __forceinline__ void attend(const EncoderAttentionArgs& args, const Block& block) {
  const int group = thread_id() / 128 - 1, lane = thread_id() % 32;
  const bool speaks = thread_id() % 128 == 0;             // for its group
  const float factor = args.scale * 1.4426950408889634F;  // exp(x) = exp2(x log2 e)
  hopper::Ring<2> query;
  hopper::Ring<kStages> ring;
  float scores[kKeys / 2];
  Rows rows;
  for (int index = block_id_x(); index < block.items; index += block_count_x(), query.advance()) {
    const unsigned long long q =
        hopper::swizzled_tile(block.queries + query.stage * kQueryBytes + group * 64 * kWidth * 2);
    const auto score = [&](const hopper::Ring<kStages>& at) {
      hopper::barrier_wait(block.key_full + at.stage * 8, at.parity);
      const unsigned long long keys = hopper::swizzled_tile(block.keys(at.stage));
      hopper::products_begin();
#pragma unroll
      for (int part = 0; part < kWidth / 16; ++part)
        hopper::Product<kKeys, T>::add(scores, q + part * 2, keys + part * 2, part);
      hopper::products_commit();
    };
    hopper::barrier_wait(block.query_full + query.stage * 8, query.parity);
    rows.clear();
    score(ring);
    hopper::products_wait<0>();
    if (speaks) hopper::barrier_arrive(block.key_empty + ring.stage * 8);

    for (int tile = 0; tile < block.key_tiles; ++tile) {
      const int left = args.positions - tile * kKeys;
      if (left < kKeys) {
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            if (j * 8 + lane % 4 * 2 + e % 2 >= left) scores[j * 4 + e] = kLowest;
      }
      rows.weigh(scores, factor);
      unsigned weights[kKeys / 16][4];
#pragma unroll
      for (int i = 0; i < kKeys / 16; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          weights[i][e] = Pair<T>::pack(scores[i * 8 + e * 2], scores[i * 8 + e * 2 + 1]);

      const int stage = ring.stage;
      hopper::barrier_wait(block.value_full + stage * 8, ring.parity);
      const unsigned long long values = hopper::swizzled_tile(block.values(stage));
      hopper::products_begin();
#pragma unroll
      for (int i = 0; i < kKeys / 16; ++i)
        hopper::RegisterProduct<kWidth, T>::add(rows.out, weights[i], values + i * (16 * kWidth * 2 >> 4));
      hopper::products_commit();
      ring.advance();
      const bool more = tile + 1 < block.key_tiles;
      if (more) score(ring);  // the next scores follow at once
      hopper::products_wait<0>();
      if (speaks) {
        hopper::barrier_arrive(block.value_empty + stage * 8);
        if (more) hopper::barrier_arrive(block.key_empty + ring.stage * 8);
      }
    }
    if (speaks) hopper::barrier_arrive(block.query_empty + query.stage * 8);
    write<T>(args, Item(block, args, index), rows, group);
  }
}

template <class T>
__device__ __forceinline__ void run(const WgmmaAttentionArgs& args, unsigned shared) {
  const Block block(shared, args.attention);
  if (thread_id() == 0) block.init_barriers();
  barrier();
  wait_for_previous_kernel();
  let_next_kernel_begin();
  if (thread_id() < 128) {
    hopper::give_registers<32>();
    if (thread_id() == 0) bring(args, block);
  } else {
    hopper::take_registers<160>();
    attend<T>(args.attention, block);
  }
}

}  // namespace sotto::gpu::attention_wgmma
