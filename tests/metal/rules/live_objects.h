// LiveObjects: how many objects of a kind there are.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd::standin {

// Counts that the objects themselves keep. A process has one. Thread-safe.
struct LiveObjects {
  std::atomic<int64_t> graphs{0};
  std::atomic<int64_t> command_buffers{0};  // MetalPerformanceShaders' own
  std::atomic<int64_t> pipelines{0};        // shaders have them

  static LiveObjects& All();
};

}  // namespace mpsd::standin
