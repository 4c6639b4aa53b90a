#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backend/gpu/driver.h"
#include "backend/gpu/images.h"

namespace sotto::gpu {

// A kernel that can be launched for as long as its context lives.
struct Kernel {
  Function function = nullptr;
  bool waits_itself = false;  // may begin before what was launched before it has ended
};

// A device in use: driver, kernels, and an account of its memory. All backends on a device share one; the
// last one's end gives everything back.
class Context {
 public:
  // Throws Error(device) where the driver refuses, Error(unsupported) where it lacks a function.
  static std::shared_ptr<Context> open(Vendor vendor, const std::filesystem::path& library, int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Driver& driver() const noexcept { return *driver_; }
  const DeviceFacts& facts() const noexcept { return facts_; }
  const Image* image(Path path) const noexcept;  // nullptr: this chip and driver have none

  // Throws Error(device) or Error(out_of_memory) for anything but kOk. A device that is lost stays so: from
  // then on nothing is asked of the driver any more, and owners release what lies on the host only.
  void check(Result result, const char* step);
  bool lost() const noexcept { return lost_; }

  // A kernel by name. Throws Error(internal) where the image has none of that name.
  Kernel kernel(Path path, const std::string& name);
  // The same, with room for more dynamic shared memory than a launch may ask for unprepared.
  Kernel kernel(Path path, const std::string& name, size_t shared_bytes);

  size_t free_memory();  // as the driver says; needs to be entered

  // --- the account; for owners of memory ---
  Address allocate(size_t bytes);
  void release(Address address, size_t bytes) noexcept;
  void* allocate_pinned(size_t bytes);
  void release_pinned(void* memory, size_t bytes) noexcept;
  size_t memory_in_use() const noexcept { return memory_in_use_; }
  size_t pinned_in_use() const noexcept { return pinned_in_use_; }

 private:
  explicit Context(std::unique_ptr<Driver> driver);
  Module module(Path path);  // under the lock

  std::unique_ptr<Driver> driver_;
  DeviceFacts facts_;
  std::atomic<bool> lost_ = false;
  std::atomic<size_t> memory_in_use_ = 0, pinned_in_use_ = 0;
  std::mutex mutex_;
  std::map<Path, Module> modules_;         // guarded by mutex_
  std::map<std::string, Kernel> kernels_;  // guarded by mutex_
};

// While one exists, what this thread asks of the driver is for the context's device.
class Entered {
 public:
  explicit Entered(Context& context);  // throws where the device is lost
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Context& context_;
  int before_ = 0;
};

// The same for destructors: entered() is false where the device is lost and nothing is to be asked of it.
class EnteredQuietly {
 public:
  explicit EnteredQuietly(Context& context) noexcept;
  ~EnteredQuietly();
  EnteredQuietly(const EnteredQuietly&) = delete;
  EnteredQuietly& operator=(const EnteredQuietly&) = delete;
  bool entered() const noexcept { return entered_; }

 private:
  Context& context_;
  bool entered_;
  int before_ = 0;
};

}  // namespace sotto::gpu
