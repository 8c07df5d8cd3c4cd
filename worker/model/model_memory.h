// ModelMemory: the host memory that a model's device and library use.
#pragma once

#include <cstdint>

namespace mpsd {

// Part of a model. The first three functions are thread-safe. The other two are called on a lane's
// thread, if the model gives memory back.
class ModelMemory {
 public:
  virtual ~ModelMemory() = default;

  // Lets the device read inputs there without staging. Called before a batch names the memory;
  // undone, with the same address, before the memory is unmapped.
  virtual void RegisterMemory(const void* data, uint64_t bytes) = 0;
  virtual void UnregisterMemory(const void* data) = 0;

  // Lets the device write outputs there without staging. The memory stays for the life of the
  // process. Called before the first run.
  virtual void RegisterOutputMemory(void* data, uint64_t bytes) = 0;

  // Memory kept for later runs; registered memory counts as used.
  virtual uint64_t UnusedMemoryBytes() const = 0;

  // Called only while no lane runs.
  virtual void ReleaseUnusedMemory() = 0;
};

}  // namespace mpsd
