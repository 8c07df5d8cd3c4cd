// HostBuffers: which memory of this process a gpu reads in place, if it shares the cpu's memory.
//
//   slab segment, whole pages          ──▶ one buffer, from its mapping to its removal
//     rows of a batch, at an offset    ──▶ the buffer and the offset: a tensor without a copy
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

// Memory as the gpu sees it: `offset` bytes behind the beginning of a buffer. The buffer lives as
// long as a place, or a tensor made from one.
struct BufferPlace {
  std::shared_ptr<void> buffer;
  uint64_t offset = 0;
};

// Owned by the model's TorchRuntime. Thread-safe: lanes look places up while another thread adds
// and removes segments. A removed buffer has no gpu work left, because a batch ends only after its
// lane's stream is done.
//
// Invariants:
//   1. Each piece has one buffer, made once.
//   2. A place lies wholly in one piece, at a multiple of kTensorAlignment, as gpu kernels expect.
class HostBuffers {
 public:
  // `maker` outlives this object and its places. `page_bytes` is the host's.
  HostBuffers(BufferMaker* maker, uint64_t page_bytes) : maker_(maker), page_bytes_(page_bytes) {}

  // INVALID_ARGUMENT if the piece is not whole pages; otherwise the maker's error. After an error
  // nothing was added.
  absl::Status Add(const void* data, uint64_t bytes);

  // Does nothing for memory that was not added.
  void Remove(const void* data);

  // nullopt if the gpu cannot use the bytes in place.
  std::optional<BufferPlace> Find(const void* data, uint64_t bytes) const;

  // All pieces together, which the driver counts as taken for the gpu.
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
