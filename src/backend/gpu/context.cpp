#include "backend/gpu/context.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include <fmt/format.h>

#include "base/error.h"

namespace sotto::gpu {
namespace {

using Key = std::tuple<Vendor, std::filesystem::path, int>;

struct Registry {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Context>> contexts;
};

Registry& registry() {
  static Registry the_one;
  return the_one;
}

double mebibytes(size_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

}  // namespace

std::shared_ptr<Context> Context::open(Vendor vendor, const std::filesystem::path& library, int ordinal) {
  const Key key{vendor, library, ordinal};
  const std::lock_guard lock(registry().mutex);
  std::weak_ptr<Context>& known = registry().contexts[key];
  // A lost one is of no use to anybody; when its last user has gone the device may have recovered.
  if (auto context = known.lock(); context && !context->lost()) return context;
  std::shared_ptr<Context> context(new Context(open_driver(vendor, library, ordinal)));
  known = context;
  return context;
}

Context::Context(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {
  facts_ = driver_->facts();
  check(driver_->open(), "taking the device into use");
}

Context::~Context() {
  if (EnteredQuietly scope(*this); scope.entered())
    for (const auto& [path, module] : modules_) driver_->unload_module(module);
  driver_->close();
}

// SOTTO_GPU_DRIVER: as if the driver were no newer, so that the kernels for older ones can be tried on any.
const Image* Context::image(Path path) const noexcept {
  int version = driver_->version();
  if (const char* const limit = std::getenv("SOTTO_GPU_DRIVER"))
    version = std::min(version, std::atoi(limit));
  return choose_image(images(), driver_->vendor(), facts_.architecture, version, path);
}

void Context::check(Result result, const char* step) {
  if (result == kOk) return;
  if (is_lost(result)) lost_ = true;
  const std::string text = driver_->error_text(result);
  if (is_out_of_memory(result))
    throw Error(ErrorCode::out_of_memory, "{} has no memory left: {} failed ({})", facts_.name, step, text);
  if (lost_)
    throw Error(ErrorCode::device, "{} has stopped working: {} failed ({})", facts_.name, step, text);
  throw Error(ErrorCode::device, "{}: {} failed ({})", facts_.name, step, text);
}

Module Context::module(Path path) {
  if (const auto known = modules_.find(path); known != modules_.end()) return known->second;
  const Image* chosen = image(path);
  if (chosen == nullptr)
    throw Error(ErrorCode::unsupported, "{} ({}): this build holds no {} kernels that it can run",
                facts_.name, facts_.architecture, path_name(path));
  Module loaded = nullptr;
  check(driver_->load_module(&loaded, chosen->begin), "loading the kernels");
  modules_[path] = loaded;
  return loaded;
}

Kernel Context::kernel(Path path, const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second;
  Kernel kernel;
  check(driver_->find_function(&kernel.function, module(path), name.c_str()), name.c_str());
  kernel.waits_itself = image(path)->waits_itself();
  kernels_[name] = kernel;
  return kernel;
}

Kernel Context::kernel(Path path, const std::string& name, size_t shared_bytes) {
  const Kernel found = kernel(path, name);
  constexpr size_t kUnasked = 48 << 10;
  if (shared_bytes > kUnasked)
    check(driver_->allow_shared_memory(found.function, shared_bytes), "shared memory");
  return found;
}

size_t Context::free_memory() {
  size_t free = 0, total = 0;
  check(driver_->memory_info(&free, &total), "asking for the free memory");
  return free;
}

Address Context::allocate(size_t bytes) {
  const Entered scope(*this);
  Address address = 0;
  const Result result = driver_->allocate(&address, bytes);
  if (is_out_of_memory(result)) {
    size_t free = 0, total = 0;
    driver_->memory_info(&free, &total);
    throw Error(ErrorCode::out_of_memory, "{} has no room for {:.1f} MiB more: {:.1f} of {:.1f} MiB are free",
                facts_.name, mebibytes(bytes), mebibytes(free), mebibytes(total));
  }
  check(result, "allocating memory");
  memory_in_use_ += bytes;
  return address;
}

void Context::release(Address address, size_t bytes) noexcept {
  memory_in_use_ -= bytes;
  if (const EnteredQuietly scope(*this); scope.entered())
    if (is_lost(driver_->release(address))) lost_ = true;
}

void* Context::allocate_pinned(size_t bytes) {
  const Entered scope(*this);
  void* memory = nullptr;
  check(driver_->allocate_pinned(&memory, bytes), "allocating memory for copies");
  pinned_in_use_ += bytes;
  return memory;
}

void Context::release_pinned(void* memory, size_t bytes) noexcept {
  pinned_in_use_ -= bytes;
  if (const EnteredQuietly scope(*this); scope.entered()) driver_->release_pinned(memory);
}

Entered::Entered(Context& context) : context_(context) {
  if (context.lost())
    throw Error(ErrorCode::device, "{} has stopped working and was given up", context.facts().name);
  context.check(context.driver().enter(&before_), "selecting the device");
}

Entered::~Entered() {
  context_.driver().leave(before_);
}

// What is to be given back is worth a second try.
EnteredQuietly::EnteredQuietly(Context& context) noexcept
    : context_(context),
      entered_(!context.lost() &&
               (context.driver().enter(&before_) == kOk || context.driver().enter(&before_) == kOk)) {}

EnteredQuietly::~EnteredQuietly() {
  if (entered_) context_.driver().leave(before_);
}

}  // namespace sotto::gpu
