// NoCopyBuffers: buffers of Metal over memory of this process, without a copy.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/metal/buffer_maker.h"
#include "worker/metal/metal_device.h"

namespace mpsd {

// Calls -[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:] in the shared storage
// mode without a deallocator: cpu and gpu share one memory. Metal does not document whether it
// takes read-only pages, so the answer is checked. The gpu must never write through such a buffer.
// Owned by the model's TorchRuntime. Thread-safe.
class NoCopyBuffers final : public BufferMaker {
 public:
  explicit NoCopyBuffers(const MetalDevice& device) : device_(device) {}

  // UNAVAILABLE if there is no buffer, or one at another address.
  absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) override;

 private:
  const MetalDevice device_;
};

}  // namespace mpsd
