// NoCopyBuffers: buffers of Metal over memory of this process, without a copy.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/metal/buffer_maker.h"
#include "worker/metal/metal_device.h"

namespace mpsd {

// On a Mac the cpu and the gpu share one memory, so a buffer can refer to pages that are already
// mapped. This class calls -[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:], in
// the shared storage mode, without a deallocator. Metal does not document whether it takes
// read-only pages; this class asks for a buffer and checks the answer. The gpu must never write
// through such a buffer.
//
// Owned by the model's TorchRuntime. Thread-safe.
class NoCopyBuffers final : public BufferMaker {
 public:
  explicit NoCopyBuffers(const MetalDevice& device) : device_(device) {}

  // UNAVAILABLE if the device makes no buffer, or a buffer at another address.
  absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) override;

 private:
  const MetalDevice device_;
};

}  // namespace mpsd
