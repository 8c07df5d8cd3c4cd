// UnifiedMemory: how a worker on mps brings inputs to its gpu and outputs back, with one wait a
// batch.
//
//   rows in a slab ── aligned, not written to ──▶ a tensor over the slab's buffer: no copy
//                  ── otherwise ───────────────▶ a copy on the stream, not waited for
//   rows of no row bucket: 3, 5, 6, 7, … ───────▶ lie in no slab: row_buckets.h has copied them
//   outputs        ── made dense on the gpu ────▶ copies on the stream, not waited for
//   WaitForMpsStream()                            once, when all of them are queued
//
// What a gpu really does was seen by nobody here, so a worker tries both out at its start
// (memory_probe.h). Where a copy that is not waited for goes wrong, each copy waits, as libtorch's
// own do; where only a tensor without a copy does, inputs are copied. libtorch's copies have the
// pages of the host made a buffer, too, and end the process where there is none: if Metal refuses
// pages that are mapped for reading alone, inputs are copied from memory of the worker's own.
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

// A tensor over a part of a buffer: `place` stays alive with it. REQUIRES: the offset is a multiple
// of the type's size, and the tensor lies inside of the buffer. May throw what libtorch throws.
at::Tensor TensorIn(const BufferPlace& place, c10::ScalarType type, c10::IntArrayRef sizes,
                    c10::Device device);

// Whether a copy on the gpu may have that target. Metal copies to offsets, and as many bytes, as
// are multiples of 4: the rows of a part of a batch (part_sink.h), and flags, may begin and end
// elsewhere. Pure.
bool GpuWritesTo(const void* target, uint64_t bytes);

// Owned by the model's TorchRuntime. Thread-safe after construction; a lane's copies and its wait
// are on the lane's thread.
class UnifiedMemory {
 public:
  using Wait = std::function<absl::Status()>;

  // Tries out what the device bears, and says on stderr what it does not. `maker` may be the error
  // for which there is none. `wait` blocks until the calling thread's stream is done. Called on the
  // main thread, before lanes bind.
  UnifiedMemory(c10::Device device, absl::StatusOr<std::unique_ptr<BufferMaker>> maker, Wait wait);

  // Whether a batch waits once, by Finish(), instead of in each copy.
  bool waits_once() const { return waits_once_; }

  InputMemory input_memory() const {
    return buffers_ == nullptr ? InputMemory::kCopied : InputMemory::kInPlace;
  }

  // The bytes of the memory that was added and not removed, as far as the device has buffers of it.
  uint64_t HeldBytes() const { return buffers_ == nullptr ? 0 : buffers_->HeldBytes(); }

  // As Model::RegisterMemory() and UnregisterMemory(). Inputs in memory of which the device makes
  // no buffer are copied.
  void Add(const void* data, uint64_t bytes);
  void Remove(const void* data);

  // The input where it lies; nullopt: it is to be copied. The device only reads it. May throw.
  std::optional<at::Tensor> InPlace(const void* data, uint64_t bytes, c10::ScalarType type,
                                    c10::IntArrayRef sizes) const;

  // The input, which lies in memory of the host, as a copy on the device. The copy may still be
  // running on the stream. May throw.
  at::Tensor Copied(const at::Tensor& host) const;

  // Copies the tensor to `target`, contiguous; by way of memory of libtorch's own, with a wait,
  // where the gpu does not write to `target`. The bytes are complete after Finish(). May throw.
  void CopyOut(const at::Tensor& tensor, void* target) const;

  // Blocks until the calling lane's stream is done.
  absl::Status Finish() const { return waits_once_ ? wait_() : absl::OkStatus(); }

 private:
  absl::Status Probe(BufferMaker* maker) const;

  const c10::Device device_;
  const Wait wait_;
  std::unique_ptr<BufferMaker> maker_;
  std::unique_ptr<HostBuffers> buffers_;  // null where inputs are copied
  bool reads_slabs_ = true;  // the device takes pages that are mapped for reading alone
  bool waits_once_ = true;
};

}  // namespace mpsd
