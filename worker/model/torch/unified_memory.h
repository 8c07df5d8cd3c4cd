// UnifiedMemory: how a worker on mps brings inputs to its gpu and outputs back, with one wait per
// batch.
//
//   rows in a slab ── aligned, not written to ──▶ a tensor over the slab's buffer: no copy
//                  ── otherwise ───────────────▶ a copy on the stream, without a wait
//   rows of no row bucket: 3, 5, 6, 7, … ───────▶ not in a slab: row_buckets.h has copied them
//   outputs        ── made dense on the gpu ────▶ copies on the stream, without a wait
//   WaitForMpsStream()                            once, when all of these are queued
//
// Nobody here has seen what a gpu really does, so a worker tests it at its start (memory_probe.h).
// If a copy without a wait goes wrong, each copy waits, as libtorch's own do. If only a tensor
// without a copy goes wrong, inputs are copied. libtorch's copies also make a buffer of the host's
// pages, and end the process if they cannot. So if Metal refuses read-only pages, inputs are copied
// from the worker's own memory.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "ATen/core/TensorBody.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/input_memory.h"
#include "worker/metal/buffer_maker.h"
#include "worker/model/torch/host_buffers.h"

namespace mpsd {

// A tensor over a part of a buffer; it keeps `place` alive. REQUIRES: the offset is a multiple of
// the type's size, and the tensor lies inside the buffer. May throw what libtorch throws.
at::Tensor TensorIn(const BufferPlace& place, c10::ScalarType type, c10::IntArrayRef sizes,
                    c10::Device device);

// Whether a copy on the gpu may have that target. Metal copies only to offsets and byte counts that
// are multiples of 4. The rows of a part of a batch (part_sink.h), and flags, may begin and end
// elsewhere. Pure.
bool GpuWritesTo(const void* target, uint64_t bytes);

// Owned by the model's TorchRuntime. Thread-safe after construction; a lane's copies and its wait
// run on the lane's thread.
class UnifiedMemory {
 public:
  using Wait = std::function<absl::Status()>;

  // Tests what the device bears, and reports failures on stderr. If there is no maker, `maker` is
  // the error that says why. The function `wait` blocks until the calling thread's stream is done.
  // Called on the main thread, before lanes bind.
  UnifiedMemory(c10::Device device, absl::StatusOr<std::unique_ptr<BufferMaker>> maker, Wait wait);

  // Whether a batch waits once, in Finish(), instead of in each copy.
  bool waits_once() const { return waits_once_; }

  InputMemory input_memory() const {
    return buffers_ == nullptr ? InputMemory::kCopied : InputMemory::kInPlace;
  }

  // The bytes of memory that was added and not removed, as far as the device has buffers for it.
  uint64_t HeldBytes() const { return buffers_ == nullptr ? 0 : buffers_->HeldBytes(); }

  // As RegisterMemory() and UnregisterMemory() of ModelMemory. Inputs are copied if the device has
  // no buffer for their memory.
  void Add(const void* data, uint64_t bytes);
  void Remove(const void* data);

  // The input in place; nullopt: it must be copied. The device only reads it. May throw.
  std::optional<at::Tensor> InPlace(const void* data, uint64_t bytes, c10::ScalarType type,
                                    c10::IntArrayRef sizes) const;

  // A copy on the device of an input in host memory. The copy may still be running on the stream.
  // May throw.
  at::Tensor Copied(const at::Tensor& host) const;

  // Copies the tensor to `target`, contiguous. If the gpu cannot write to `target`, the copy goes
  // through libtorch's own memory, with a wait. The bytes are complete after Finish(). May throw.
  void CopyOut(const at::Tensor& tensor, void* target) const;

  // Blocks until the calling lane's stream is done.
  absl::Status Finish() const { return waits_once_ ? wait_() : absl::OkStatus(); }

 private:
  absl::Status Probe(BufferMaker* maker) const;

  const c10::Device device_;
  const Wait wait_;
  std::unique_ptr<BufferMaker> maker_;
  std::unique_ptr<HostBuffers> buffers_;  // null if inputs are copied
  bool reads_slabs_ = true;               // the device takes read-only pages
  bool waits_once_ = true;
};

}  // namespace mpsd
