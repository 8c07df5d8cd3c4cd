// BufferMaker: makes buffers of a gpu over memory that the process has already mapped.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace mpsd {

// For a gpu that shares the host's memory. Thread-safe.
class BufferMaker {
 public:
  virtual ~BufferMaker() = default;

  // The gpu reads `bytes` at `data` in place. The pointer is the gpu's object, the data of a
  // tensor. Both numbers are multiples of the page, and the memory stays mapped while the gpu works
  // on the buffer. UNAVAILABLE says why there is none.
  virtual absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) = 0;
};

}  // namespace mpsd
