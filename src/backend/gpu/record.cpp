#include <algorithm>
#include <vector>

#include "backend/gpu/gpu_types.h"

namespace sotto::gpu {
namespace {

bool same_row(const DecodeRow& a, const DecodeRow& b) {
  return a.token == b.token && a.position == b.position && a.slot == b.slot && a.window == b.window;
}

// The rows as the device reads them.
void write_device_rows(std::span<const DecodeRow> rows, DeviceRow* to) {
  int run_begin = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].slot != rows[i - 1].slot) run_begin = static_cast<int>(i);
    to[i] = {rows[i].token, rows[i].position, rows[i].slot, rows[i].window, run_begin, {}};
  }
}

}  // namespace

const DeviceRow* GpuBackend::on_device(std::span<const DecodeRow> rows) {
  const bool there = rows_.piece() != nullptr &&
                     std::equal(rows.begin(), rows.end(), uploaded_.begin(), uploaded_.end(), same_row);
  if (!there) {
    uploaded_.clear();  // should the upload fail
    std::vector<DeviceRow> device_rows(rows.size());
    write_device_rows(rows, device_rows.data());
    queue_.upload(rows_.reserve(queue_, rows.size() * sizeof(DeviceRow)).address(),
                  std::as_bytes(std::span(device_rows)));
    uploaded_.assign(rows.begin(), rows.end());
  }
  return rows_.piece()->pointer<const DeviceRow>();
}

std::unique_ptr<Recording> GpuBackend::do_record(std::span<const DecodeRow> rows,
                                                 const std::function<void()>& operations) {
  {
    const Entered scope(*context_);
    on_device(rows);
    auto recording = std::make_unique<GpuRecording>(context_, rows.size() * sizeof(DeviceRow));
    write_device_rows(rows, reinterpret_cast<DeviceRow*>(recording->host_rows.data()));
    recording->graph = queue_.capture([&] {
      queue_.send(rows_.piece()->address(), recording->host_rows.data(), recording->host_rows.bytes());
      operations();
    });
    if (recording->graph != nullptr) {
      recording->in_use = {rows_.piece(), cross_partial_.piece(), cross_done_.piece(), dequantized_.piece()};
      recording->waits_before = queue_.waits();
      queue_.launch(*recording->graph);
      return recording;
    }
  }
  operations();
  return nullptr;
}

// The recording itself fetches the rows from the host's memory, so nothing but its launch is asked of the
// driver.
void GpuBackend::do_replay(const Recording& recording, std::span<const DecodeRow> rows) {
  const Entered scope(*context_);
  const auto& kept = static_cast<const GpuRecording&>(recording);
  if (kept.waits_before == queue_.waits()) queue_.synchronize();  // the last run may still be reading them
  kept.waits_before = queue_.waits();
  uploaded_.clear();
  write_device_rows(rows, reinterpret_cast<DeviceRow*>(kept.host_rows.data()));
  queue_.launch(*kept.graph);
}

}  // namespace sotto::gpu
