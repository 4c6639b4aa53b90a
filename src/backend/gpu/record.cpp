#include <algorithm>
#include <vector>

#include "backend/gpu/gpu_types.h"

namespace sotto::gpu {
namespace {

bool same_row(const DecodeRow& a, const DecodeRow& b) {
  return a.token == b.token && a.position == b.position && a.slot == b.slot && a.window == b.window;
}

}  // namespace

void GpuBackend::upload_rows(std::span<const DecodeRow> rows, const Buffer& to) {
  std::vector<DeviceRow> device_rows(rows.size());
  int run_begin = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].slot != rows[i - 1].slot) run_begin = static_cast<int>(i);
    device_rows[i] = {rows[i].token, rows[i].position, rows[i].slot, rows[i].window, run_begin, {}};
  }
  uploaded_.clear();  // should the upload fail
  queue_.upload(to.address(), std::as_bytes(std::span(device_rows)));
  if (&to == rows_.piece().get()) uploaded_.assign(rows.begin(), rows.end());
}

const DeviceRow* GpuBackend::on_device(std::span<const DecodeRow> rows) {
  const bool there = rows_.piece() != nullptr &&
                     std::equal(rows.begin(), rows.end(), uploaded_.begin(), uploaded_.end(), same_row);
  if (!there) {
    uploaded_.clear();
    upload_rows(rows, rows_.reserve(queue_, rows.size() * sizeof(DeviceRow)));
  }
  return rows_.piece()->pointer<const DeviceRow>();
}

std::unique_ptr<Recording> GpuBackend::do_record(std::span<const DecodeRow> rows,
                                                 const std::function<void()>& operations) {
  {
    const Entered scope(*context_);
    on_device(rows);
    auto recording = std::make_unique<GpuRecording>();
    recording->graph = queue_.capture(operations);
    if (recording->graph != nullptr) {
      recording->rows = rows_.piece();
      recording->in_use = {cross_partial_.piece(), cross_done_.piece(), dequantized_.piece()};
      queue_.launch(*recording->graph);
      return recording;
    }
  }
  operations();
  return nullptr;
}

void GpuBackend::do_replay(const Recording& recording, std::span<const DecodeRow> rows) {
  const Entered scope(*context_);
  const auto& kept = static_cast<const GpuRecording&>(recording);
  upload_rows(rows, *kept.rows);
  queue_.launch(*kept.graph);
}

}  // namespace sotto::gpu
