// HostBuffers: which memory of this process a gpu reads in place.
//
//   slab segment, whole pages          ──▶ one buffer, from its mapping to its removal
//     rows of a batch, at an offset    ──▶ the buffer and the offset: a tensor without a copy
//
// For a gpu that shares the cpu's memory; for others inputs are copied (RegisterHostMemory() in
// torch_device.h). Needs neither libtorch nor a gpu, because an interface makes the buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "worker/metal/buffer_maker.h"

namespace mpsd {

// A piece of memory as the gpu sees it: `offset` bytes behind the beginning of its buffer. The
// buffer lives while the place, or a tensor made from the place, lives.
struct BufferPlace {
  std::shared_ptr<void> buffer;
  uint64_t offset = 0;
};

// Owned by the model's TorchRuntime. Thread-safe: lanes look places up while the thread that
// follows the front end adds and removes segments. A segment is removed only when no batch names
// it, and a batch ends only after its lane's stream is done. So a removed buffer has no gpu work
// left.
//
// Invariants:
//   1. Each piece has one buffer, made once.
//   2. A place lies wholly in one piece, at a multiple of kTensorAlignment: the alignment that the
//      gpu's kernels find in libtorch's own memory.
class HostBuffers {
 public:
  // `maker` outlives this object and its places. `page_bytes` is the size of the host's page.
  HostBuffers(BufferMaker* maker, uint64_t page_bytes) : maker_(maker), page_bytes_(page_bytes) {}

  // Makes the buffer of a piece. INVALID_ARGUMENT if the piece is not whole pages; otherwise the
  // maker's error. After an error nothing was added, and inputs in that memory are copied.
  absl::Status Add(const void* data, uint64_t bytes);

  // Releases the piece's buffer. Does nothing for memory that was not added.
  void Remove(const void* data);

  // nullopt if the gpu cannot use the bytes in place.
  std::optional<BufferPlace> Find(const void* data, uint64_t bytes) const;

  // The bytes of all pieces. The driver counts them as memory that this process took for the gpu.
  uint64_t HeldBytes() const;

 private:
  struct Piece {
    const char* data = nullptr;
    uint64_t bytes = 0;
    std::shared_ptr<void> buffer;
  };

  BufferMaker* const maker_;
  const uint64_t page_bytes_;
  mutable absl::Mutex mu_;
  std::vector<Piece> pieces_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
