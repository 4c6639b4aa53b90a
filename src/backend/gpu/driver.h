#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

// One table of functions over CUDA's driver and AMD's HIP runtime. The rest of the backend is written against
// it once and names no vendor.
namespace sotto::gpu {

enum class Vendor { nvidia, amd };

// What a driver answers: the two vendors number the answers that matter here alike.
using Result = int;
inline constexpr Result kOk = 0;
inline constexpr Result kNotThere = 801;  // "not supported": also what a missing optional function answers

bool is_out_of_memory(Result result) noexcept;
// After such an answer every further call for the device fails, whoever makes it.
bool is_lost(Result result) noexcept;

using Address = unsigned long long;  // of memory on the device
using Handle = void*;                // a driver's own object
using Stream = Handle;
using Event = Handle;
using Module = Handle;
using Function = Handle;
using Graph = Handle;  // ready to launch

struct DeviceFacts {
  std::string name;
  std::string architecture;  // "sm_90", "gfx1010"
  int capability = 0;        // NVIDIA: 90; else 0
  int multiprocessors = 0;
  int wave = 32;                   // threads that run in step
  size_t shared_memory_limit = 0;  // per block, the largest that can be had
};

struct Launch {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned threads = 1;  // per block, along x
  unsigned shared_bytes = 0;
  unsigned cluster_x = 1;  // blocks that share a cluster (sm_90)
  bool overlaps_previous =
      false;  // may begin before the launch before it has ended; it waits itself where it must
};

class Driver {
 public:
  virtual ~Driver() = default;
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  virtual Vendor vendor() const noexcept = 0;
  virtual int version() const noexcept = 0;  // CUDA 12040; HIP 60032831
  virtual std::string error_text(Result result) const = 0;

  // --- the device this table was opened for ---
  virtual DeviceFacts facts() const = 0;
  virtual Result open() noexcept = 0;  // takes the device into use
  virtual void close() noexcept = 0;   // gives it, and all memory on it that is still ours, back
  // What this thread calls between the two is for the device; afterwards the thread is as it was before.
  virtual Result enter(int* before) noexcept = 0;
  virtual void leave(int before) noexcept = 0;

  // --- memory; all copies are in the order of their stream ---
  virtual Result memory_info(size_t* free, size_t* total) noexcept = 0;
  virtual Result allocate(Address* address, size_t bytes) noexcept = 0;
  virtual Result release(Address address) noexcept = 0;
  virtual Result allocate_pinned(void** memory, size_t bytes) noexcept = 0;
  virtual Result release_pinned(void* memory) noexcept = 0;
  virtual Result upload(Address to, const void* from, size_t bytes, Stream stream) noexcept = 0;
  virtual Result download(void* to, Address from, size_t bytes, Stream stream) noexcept = 0;
  virtual Result copy(Address to, Address from, size_t bytes, Stream stream) noexcept = 0;
  virtual Result fill(Address to, unsigned char value, size_t width, size_t height, size_t pitch,
                      Stream stream) noexcept = 0;

  // --- streams and events ---
  virtual Result create_stream(Stream* stream) noexcept = 0;
  virtual Result destroy_stream(Stream stream) noexcept = 0;
  virtual Result synchronize(Stream stream) noexcept = 0;
  virtual Result create_event(Event* event, bool timed) noexcept = 0;
  virtual Result destroy_event(Event event) noexcept = 0;
  virtual Result record_event(Event event, Stream stream) noexcept = 0;
  virtual Result wait_event(Event event) noexcept = 0;  // the calling thread waits
  virtual Result elapsed(float* milliseconds, Event from, Event to) noexcept = 0;

  // --- kernels ---
  virtual Result load_module(Module* module, const void* image) noexcept = 0;
  virtual Result unload_module(Module module) noexcept = 0;
  virtual Result find_function(Function* function, Module module, const char* name) noexcept = 0;
  virtual Result allow_shared_memory(Function function, size_t bytes) noexcept = 0;  // above 48 KB
  virtual Result launch(Function function, const Launch& shape, void** arguments, Stream stream) noexcept = 0;

  // --- recorded launches ---
  virtual bool has_graphs() const noexcept = 0;
  virtual Result begin_capture(Stream stream) noexcept = 0;
  virtual Result end_capture(Stream stream,
                             Graph* graph) noexcept = 0;  // no graph where the answer is a refusal
  virtual Result launch_graph(Graph graph, Stream stream) noexcept = 0;
  virtual Result destroy_graph(Graph graph) noexcept = 0;

  // CUDA's cuTensorMapEncodeTiled; nullptr where there is none.
  using EncodeTensorMap = Result (*)(void* map, int type, unsigned rank, void* address, const uint64_t* sizes,
                                     const uint64_t* strides, const uint32_t* box,
                                     const uint32_t* element_strides, int interleave, int swizzle,
                                     int promotion, int fill);
  virtual EncodeTensorMap encode_tensor_map() const noexcept { return nullptr; }

 protected:
  Driver() = default;
};

// Opens the library; the device itself is not touched before open(). Throws Error(device) when the library
// cannot be opened or refuses the device, Error(unsupported) when it lacks a function.
std::unique_ptr<Driver> open_driver(Vendor vendor, const std::filesystem::path& library, int ordinal);

}  // namespace sotto::gpu
