// NoCopyBuffers: buffers of Metal over memory of this process, without a copy.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/metal/buffer_maker.h"
#include "worker/metal/metal_device.h"

namespace mpsd {

// On a Mac the cpu and the gpu share one memory, so a buffer can be a name for pages that are
// mapped already: -[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:], in the shared
// storage mode, with no code to run at its end. Metal does not say whether it takes pages that are
// mapped for reading alone; the pages are asked for, and the answer is looked at. Nobody may let
// the gpu write through such a buffer.
//
// Owned by the model's TorchRuntime. Thread-safe.
class NoCopyBuffers final : public BufferMaker {
 public:
  explicit NoCopyBuffers(const MetalDevice& device) : device_(device) {}

  // UNAVAILABLE where the device makes no buffer, or one that lies elsewhere.
  absl::StatusOr<std::shared_ptr<void>> Make(const void* data, uint64_t bytes) override;

 private:
  const MetalDevice device_;
};

}  // namespace mpsd
