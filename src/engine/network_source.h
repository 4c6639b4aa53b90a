#pragma once

#include "base/error.h"
#include "whisper/network.h"

namespace sotto {

// Where a scheduler gets its network from. All calls are made on the scheduler's thread.
class NetworkSource {
 public:
  virtual ~NetworkSource() = default;

  // Loads it first where it is not loaded; throws what that throws. It stays until replace() or unload().
  virtual const Network& network() = 0;

  // The device failed: puts the network on another one. False: there is none to go on with.
  virtual bool replace(const Error& failure) = 0;

  virtual void unload() noexcept = 0;
};

}  // namespace sotto
