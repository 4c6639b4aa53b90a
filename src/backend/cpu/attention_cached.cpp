#include <algorithm>
#include <cstring>

#include "backend/cpu/cpu_types.h"

namespace sotto::cpu {
namespace {

size_t round_up(size_t n, size_t step) {
  return (n + step - 1) / step * step;
}

// Half the bytes are half the time of a decoding step, and float16 keeps more digits than the weights of the
// smaller types have.
bool caches_in_half(ComputeType type) {
  return type != ComputeType::float32;
}

// The memory of a cache: for each layer, entry and head its keys, then its values, in the layout of
// CachedAttention.
class CacheMemory {
 public:
  CacheMemory(const CacheShape& shape, const CachedAttention& kernel)
      : entries_(static_cast<size_t>(shape.entries)),
        heads_(static_cast<size_t>(shape.heads)),
        head_(static_cast<size_t>(shape.width) / heads_),
        element_(kernel.element_bytes),
        key_bytes_(round_up(static_cast<size_t>(shape.positions), kCachePanel) * head_ * element_),
        head_bytes_(
            key_bytes_ +
            round_up(static_cast<size_t>(shape.positions) * cached_value_width(head_) * element_, 64)),
        bytes_(static_cast<size_t>(shape.layers) * entries_ * heads_ * head_bytes_,
               AlignedBytes::Pages::ordinary) {}

  size_t heads() const noexcept { return heads_; }
  size_t head() const noexcept { return head_; }
  std::byte* keys(int layer, int entry, size_t head) const noexcept {
    const size_t index = (static_cast<size_t>(layer) * entries_ + static_cast<size_t>(entry)) * heads_ + head;
    return bytes_.as<std::byte>() + index * head_bytes_;
  }
  std::byte* values(int layer, int entry, size_t head) const noexcept {
    return keys(layer, entry, head) + key_bytes_;
  }

  // Copies the first positions of one head; those behind them stay as they are.
  void copy_head(int layer, int from, int to, size_t head, size_t positions) const {
    const size_t panel = kCachePanel * element_, whole = positions / kCachePanel * panel * head_;
    const std::byte* source = keys(layer, from, head);
    std::byte* target = keys(layer, to, head);
    std::memcpy(target, source, whole);
    for (size_t d = 0; d < head_; ++d)
      std::memcpy(target + whole + d * panel, source + whole + d * panel, positions % kCachePanel * element_);
    std::memcpy(values(layer, to, head), values(layer, from, head),
                positions * cached_value_width(head_) * element_);
  }

 private:
  size_t entries_, heads_, head_, element_, key_bytes_, head_bytes_;
  AlignedBytes bytes_;
};

class CpuSelfCache final : public SelfCache {
 public:
  CpuSelfCache(const CacheShape& shape, const CachedAttention& kernel)
      : SelfCache(shape), memory(shape, kernel) {
    element_bytes_ = kernel.element_bytes;
  }
  const CacheMemory memory;
};

class CpuCrossCache final : public CrossCache {
 public:
  CpuCrossCache(const CacheShape& shape, const CachedAttention& kernel)
      : CrossCache(shape), memory(shape, kernel) {
    element_bytes_ = kernel.element_bytes;
  }
  const CacheMemory memory;
};

// Neighbouring rows that read the same entry of a cache.
struct Run {
  size_t first, count;
};

std::vector<Run> find_runs(std::span<const DecodeRow> rows, int32_t DecodeRow::*entry, size_t longest) {
  std::vector<Run> runs;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!runs.empty() && runs.back().count < longest && rows[i].*entry == rows[i - 1].*entry)
      ++runs.back().count;
    else
      runs.push_back({i, 1});
  }
  return runs;
}

}  // namespace

const CachedAttention& CpuBackend::cached_kernel() const noexcept {
  return caches_in_half(compute_type_) ? kernels_.attention.cached_half : kernels_.attention.cached_float;
}

std::unique_ptr<SelfCache> CpuBackend::do_make_self_cache(const CacheShape& shape) {
  return std::make_unique<CpuSelfCache>(shape, cached_kernel());
}

std::unique_ptr<CrossCache> CpuBackend::do_make_cross_cache(const CacheShape& shape) {
  return std::make_unique<CpuCrossCache>(shape, cached_kernel());
}

void CpuBackend::do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) {
  const CacheMemory& memory = static_cast<CpuCrossCache&>(cache).memory;
  const CachedAttention& kernel = cached_kernel();
  const size_t head = memory.head(), panels = (kv.count + kCachePanel - 1) / kCachePanel;
  pool_.parallel_for(memory.heads() * panels, [&](size_t task) {
    const size_t h = task / panels, first = task % panels * kCachePanel;
    for (size_t position = first; position < std::min(kv.count, first + kCachePanel); ++position) {
      const float* key = row_data(kv, position) + h * head;
      kernel.store_key(key, head, position, memory.keys(layer, window, h));
      kernel.store_value(key + kv.width / 2, head, position, memory.values(layer, window, h));
    }
  });
}

void CpuBackend::do_attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                                const Rows& out) {
  const CacheMemory& memory = static_cast<CpuSelfCache&>(cache).memory;
  const CachedAttention& kernel = cached_kernel();
  const size_t head = memory.head(),
               room = round_up(static_cast<size_t>(cache.shape().positions), kCachePanel);
  const std::vector<Run> slots = find_runs(rows, &DecodeRow::slot, rows.size());
  task_scratch_.reserve(kCachedRowsAtOnce * room * sizeof(float));
  // A task is one head of one slot: it stores all of the slot's new rows before the first of them looks back.
  pool_.parallel_for(slots.size() * memory.heads(), [&](size_t task) {
    const Run run = slots[task / memory.heads()];
    const size_t h = task % memory.heads(), column = h * head;
    const int32_t slot = rows[run.first].slot;
    std::byte *keys = memory.keys(layer, slot, h), *values = memory.values(layer, slot, h);
    for (size_t i = run.first; i < run.first + run.count; ++i) {
      const float* key = row_data(qkv, i) + out.width + column;
      kernel.store_key(key, head, static_cast<size_t>(rows[i].position), keys);
      kernel.store_value(key + out.width, head, static_cast<size_t>(rows[i].position), values);
    }
    const TaskScratch::Lease scratch(task_scratch_);
    for (size_t done = 0; done < run.count; done += kCachedRowsAtOnce) {
      const size_t count = std::min(kCachedRowsAtOnce, run.count - done);
      CachedRow queries[kCachedRowsAtOnce];
      for (size_t r = 0; r < count; ++r) {
        const size_t i = run.first + done + r;
        queries[r] = {row_data(qkv, i) + column, row_data(out, i) + column, scratch.data() + r * room,
                      static_cast<size_t>(rows[i].position) + 1};
      }
      kernel.attend(keys, values, head, queries, count);
    }
  });
}

void CpuBackend::do_attend_cross(const CrossCache& cache, int layer, const Rows& q,
                                 std::span<const DecodeRow> rows, const Rows& out,
                                 const CrossWeightsRequest* weights) {
  const CacheMemory& memory = static_cast<const CpuCrossCache&>(cache).memory;
  const CachedAttention& kernel = cached_kernel();
  const size_t head = memory.head(), positions = static_cast<size_t>(cache.shape().positions);
  const size_t room = round_up(positions, kCachePanel);
  const std::vector<Run> groups = find_runs(rows, &DecodeRow::window, kCachedRowsAtOnce);
  const size_t chosen = weights != nullptr ? weights->heads.size() : 0;
  float* kept = nullptr;  // rows x chosen heads x positions
  if (chosen > 0) {
    const size_t before = weights->out->size();
    weights->out->resize(before + rows.size() * chosen * positions);
    kept = weights->out->data() + before;
  }
  task_scratch_.reserve(kCachedRowsAtOnce * room * sizeof(float));
  pool_.parallel_for(groups.size() * memory.heads(), [&](size_t task) {
    const Run group = groups[task / memory.heads()];
    const size_t h = task % memory.heads(), column = h * head;
    const int32_t window = rows[group.first].window;
    const TaskScratch::Lease scratch(task_scratch_);
    CachedRow queries[kCachedRowsAtOnce];
    for (size_t r = 0; r < group.count; ++r) {
      const size_t i = group.first + r;
      queries[r] = {row_data(q, i) + column, row_data(out, i) + column, scratch.data() + r * room, positions};
    }
    kernel.attend(memory.keys(layer, window, h), memory.values(layer, window, h), head, queries, group.count);
    for (size_t c = 0; c < chosen; ++c) {
      if (weights->heads[c] != static_cast<int>(h)) continue;
      for (size_t r = 0; r < group.count; ++r)
        std::copy_n(queries[r].weights, positions, kept + ((group.first + r) * chosen + c) * positions);
    }
  });
}

void CpuBackend::do_copy_slot(SelfCache& cache, int from, int to, int positions) {
  if (from == to) return;
  const CacheMemory& memory = static_cast<CpuSelfCache&>(cache).memory;
  for (int layer = 0; layer < cache.shape().layers; ++layer)
    for (size_t h = 0; h < memory.heads(); ++h)
      memory.copy_head(layer, from, to, h, static_cast<size_t>(positions));
}

}  // namespace sotto::cpu
