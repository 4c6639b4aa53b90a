#include "support/vulkan_test_backends.h"

#include <mutex>

#include <dlfcn.h>

#include "backend/vulkan/vulkan_backend.h"
#include "base/error.h"

// Mesa's software driver leaks 128 bytes with every instance. That alone is forgiven, and for that the driver
// stays loaded to the end: a leak of a library that is gone has no name.
extern "C" const char*
__lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libvulkan_lvp.so\n";
}
[[maybe_unused]] static void* const software_driver = dlopen("libvulkan_lvp.so", RTLD_LAZY | RTLD_NODELETE);

namespace sotto::test {
namespace {

// What the validation layer said.
class Messages {
 public:
  void add(const std::string& message) {
    const std::lock_guard lock(mutex_);
    all_ += message + "\n";
  }
  std::string take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::string all_;
};

Messages& messages() {
  static Messages list;
  return list;
}

std::unique_ptr<Backend> open(const std::string& without, ComputeType type) {
  VulkanOptions options;
  options.compute_type = type;
  options.without = without;
  options.on_message = [](const std::string& message) { messages().add(message); };
  return make_vulkan_backend(options);
}

// Halves are rounded to 11 bits when they are written; sums are float32.
TestType vulkan_type(ComputeType type, bool halves) {
  TestType made{type, Storage::float32, Storage::float32, {}};
  if (type == ComputeType::float16) made.weights = Storage::float16;
  if (type == ComputeType::int8_float32 || type == ComputeType::int8_float16) {
    made.weights = Storage::int8;
    made.quantises_rows = true;
    // And the few activations that lie so close between two steps that another rounding takes the other one.
    made.bounds.product = 2e-2;
    made.bounds.per_input = 1e-5;
  }
  if (halves && (type == ComputeType::float16 || type == ComputeType::int8_float16)) {
    made.memory = Storage::float16;
    made.bounds.step = 0x1.02p-11;
    made.bounds.norm = made.bounds.encoder = 4e-4;
    made.bounds.cached = 4e-4;
  }
  return made;
}

TestBackend vulkan_backend(const std::string& name, const std::string& without,
                           const std::string& description, std::initializer_list<ComputeType> types) {
  TestBackend made;
  made.name = name;
  made.device = "vulkan";
  made.description = description;
  made.threads = {2};
  made.widest_head = 80;
  made.uses = {MatrixUse::few_rows, MatrixUse::many_rows};
  for (const ComputeType type : types) made.types.push_back(vulkan_type(type, without != "all"));
  made.open = [without](ComputeType type, int) { return open(without, type); };
  made.complaints = [] { return messages().take(); };
  try {
    open("", ComputeType::float32);
  } catch (const Error& error) {
    made.absent = error.what();
  }
  return made;
}

}  // namespace

std::vector<TestBackend> vulkan_test_backends() {
  using enum ComputeType;
  std::vector<TestBackend> list{
      vulkan_backend("vulkan", "", "timeline", {float32, float16, int8_float32, int8_float16}),
      vulkan_backend("vulkan_without_lanes", "lanes", "storage16 float16 dot subgroups timeline",
                     {float32, float16, int8_float32, int8_float16}),
      vulkan_backend("vulkan_lanes_without_dot", "dot", "subgroups lanes timeline", {int8_float32}),
      vulkan_backend("vulkan_plain", "all", "plain", {float32, float16, int8_float32})};
  list.front().whole = true;
  return list;
}

}  // namespace sotto::test
