// UnifiedMemory: how a worker on mps brings inputs to its gpu and outputs back, with one wait per
// batch.
//
//   rows in a slab ── aligned, not written to ──▶ a tensor over the slab's buffer: no copy
//                  ── otherwise ───────────────▶ a copy on the stream, without a wait
//   rows of no row bucket: 3, 5, 6, 7, … ───────▶ not in a slab: row_buckets.h has copied them
//   outputs        ── made dense on the gpu ────▶ copies on the stream, without a wait
//   WaitForMpsStream()                            once, when all of these are queued
//
// A worker tests at its start what the gpu really does (memory_probe.h):
//
//   a copy without a wait goes wrong      each copy waits
//   a tensor without a copy goes wrong    inputs are copied
//   Metal refuses read-only pages         inputs are copied from the worker's own memory, because
//                                         libtorch's copies of slabs would end the process
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

// A tensor in a buffer; it keeps `place` alive. REQUIRES: the offset is a multiple of the type's
// size, and the tensor lies inside the buffer. May throw.
at::Tensor TensorIn(const BufferPlace& place, c10::ScalarType type, c10::IntArrayRef sizes,
                    c10::Device device);

// Whether the gpu can copy to that target. Metal copies only to offsets and byte counts that are
// multiples of 4, which a part of a batch (part_sink.h) and flags may miss. Pure.
bool GpuWritesTo(const void* target, uint64_t bytes);

// Owned by the model's TorchRuntime. Thread-safe after construction; a lane's copies and its wait
// run on the lane's thread.
class UnifiedMemory {
 public:
  using Wait = std::function<absl::Status()>;

  // Tests the device, and reports failures on stderr. `maker` may be the error that says why there
  // is none. `wait` blocks until the calling thread's stream is done. Called on the main thread,
  // before lanes bind.
  UnifiedMemory(c10::Device device, absl::StatusOr<std::unique_ptr<BufferMaker>> maker, Wait wait);

  // False: each copy waits.
  bool waits_once() const { return waits_once_; }

  InputMemory input_memory() const {
    return buffers_ == nullptr ? InputMemory::kCopied : InputMemory::kInPlace;
  }

  uint64_t HeldBytes() const { return buffers_ == nullptr ? 0 : buffers_->HeldBytes(); }

  // As ModelMemory's. Inputs are copied if the device has no buffer for their memory.
  void Add(const void* data, uint64_t bytes);
  void Remove(const void* data);

  // nullopt: the input must be copied. The device only reads the tensor. May throw.
  std::optional<at::Tensor> InPlace(const void* data, uint64_t bytes, c10::ScalarType type,
                                    c10::IntArrayRef sizes) const;

  // A copy of an input in host memory, which may still be running on the stream. May throw.
  at::Tensor Copied(const at::Tensor& host) const;

  // Bytes are complete after Finish(). If the gpu cannot write to `target`, the copy goes through
  // libtorch's own memory, with a wait. May throw.
  void CopyOut(const at::Tensor& tensor, void* target) const;

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
