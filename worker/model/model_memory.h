// ModelMemory: the host memory that a model's device and library use.
#pragma once

#include <cstdint>

namespace mpsd {

// Part of a model. The first three functions are thread-safe. The other two are called on a lane's
// thread, and only if the model gives memory back (ModelTraits).
class ModelMemory {
 public:
  virtual ~ModelMemory() = default;

  // Announces memory in which inputs will lie. The device may then read it without staging. Called
  // before a batch names the memory. UnregisterMemory() is called with the same address before the
  // memory is unmapped.
  virtual void RegisterMemory(const void* data, uint64_t bytes) = 0;
  virtual void UnregisterMemory(const void* data) = 0;

  // Announces memory that sinks will give out. The device may then write it without staging. It
  // stays for the life of the process. Called before the first run.
  virtual void RegisterOutputMemory(void* data, uint64_t bytes) = 0;

  // How much memory the library keeps for later runs. Registered memory counts as used.
  virtual uint64_t UnusedMemoryBytes() const = 0;

  // Gives back what it can; the next runs take it again. Called only while no lane runs.
  virtual void ReleaseUnusedMemory() = 0;
};

}  // namespace mpsd
