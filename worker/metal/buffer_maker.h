// BufferMaker: makes buffers of a gpu over memory that the process has mapped already.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace mpsd {

// What the host's memory and the gpu's have in common, behind one call: no_copy_buffers.h makes
// buffers of Metal, and a test its own. Thread-safe.
class BufferMaker {
 public:
  virtual ~BufferMaker() = default;

  // A buffer that begins at `data` and has `bytes` bytes: the gpu reads the memory where it lies.
  // The pointer is the gpu's object, which libtorch takes for the data of a tensor; the buffer ends
  // with its last reference. Both numbers are multiples of the page, and the memory stays mapped as
  // long as the gpu works on the buffer. UNAVAILABLE says why there is none.
  virtual absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) = 0;
};

}  // namespace mpsd
