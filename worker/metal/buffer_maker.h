// BufferMaker: makes buffers of a gpu over memory that the process has already mapped.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace mpsd {

// An interface for a gpu that shares the host's memory: no_copy_buffers.h makes buffers of Metal,
// and a test makes its own. Thread-safe.
class BufferMaker {
 public:
  virtual ~BufferMaker() = default;

  // A buffer of `bytes` bytes at `data`: the gpu reads the memory in place. The pointer is the
  // gpu's object, which libtorch uses as the data of a tensor; the buffer ends with its last
  // reference. Both numbers are multiples of the page, and the memory stays mapped as long as the
  // gpu works on the buffer. UNAVAILABLE says why there is no buffer.
  virtual absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) = 0;
};

}  // namespace mpsd
