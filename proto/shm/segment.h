// Segments: pieces of shared memory with one writing process each, and the extents within a
// segment.
//
//   front end                                     worker
//   OwnedSegment, writes   slabs, mailbox    ──▶  MappedSegment, read-only
//   OwnedSegment, reads    worker segment    ──▶  MappedSegment, writes
//
// The front end creates every segment and sends a descriptor; the worker maps it. So memory is
// counted and freed in one process, and a worker that dies takes nothing with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/platform.h"
#include "proto/shm/layout.h"

namespace mpsd {

// A segment that this process created. Owned by its allocator: a pool, or a worker's
// supervisor. Unmaps the memory when destroyed; peers keep their own mappings. Thread-compatible.
class OwnedSegment {
 public:
  // Allocates and maps a segment of `bytes` bytes, a multiple of the page. The caller has checked
  // the memory budget. A slab segment or mailbox is written by this process, and gets its header
  // here; a worker segment is mapped read-only here, and gets its header from its worker.
  static absl::StatusOr<OwnedSegment> Create(SegmentKind kind, uint64_t bytes, uint32_t epoch);

  OwnedSegment(OwnedSegment&& other) noexcept;
  OwnedSegment& operator=(OwnedSegment&&) = delete;
  ~OwnedSegment();

  char* data() const { return static_cast<char*>(memory_.data); }
  uint64_t bytes() const { return memory_.bytes; }

  // The descriptor to send to the worker. Of a slab segment or mailbox it can only be mapped
  // read-only.
  int peer_fd() const;

 private:
  OwnedSegment(SegmentKind kind, platform::SharedMemory memory);

  SegmentKind kind_;
  platform::SharedMemory memory_;
};

// A segment that a peer created, mapped here. Unmaps it when destroyed. Its content is the peer's:
// callers check it. Thread-compatible.
class MappedSegment {
 public:
  // Takes the descriptor, also when it fails. Fails when the object is smaller than `bytes`.
  static absl::StatusOr<MappedSegment> Map(UniqueFd fd, uint64_t bytes, bool writable);

  MappedSegment(MappedSegment&& other) noexcept;
  MappedSegment& operator=(MappedSegment&&) = delete;
  ~MappedSegment();

  char* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  MappedSegment(char* data, uint64_t bytes) : data_(data), bytes_(bytes) {}

  char* data_;
  uint64_t bytes_;
};

// Writes the header that a segment of this kind begins with. Called once, by the writing process.
void WriteHeader(SegmentHeader* header, SegmentKind kind, uint64_t bytes, uint32_t epoch);

// FAILED_PRECONDITION unless the header is the one of such a segment in exactly this layout.
absl::Status CheckHeader(const SegmentHeader& header, SegmentKind kind, uint64_t bytes);

// Cuts a range of bytes into extents, first fit from the low end, so that memory in use stays warm.
// The front end is the only allocator of all segments. Knows nothing of the bytes: it is
// bookkeeping in the owner's private memory. Thread-compatible.
class ExtentAllocator {
 public:
  // Extents lie in [first, first + bytes), each at a multiple of `alignment`, which is a power of
  // two.
  ExtentAllocator(uint64_t first, uint64_t bytes, uint64_t alignment);

  // The offset of `bytes` free bytes; nothing when no hole is large enough.
  std::optional<uint64_t> Allocate(uint64_t bytes);

  // Gives an extent back. REQUIRES: exactly this extent was allocated and not yet freed.
  void Free(uint64_t offset, uint64_t bytes);

  uint64_t used_bytes() const { return used_bytes_; }

 private:
  struct Hole {
    uint64_t offset;
    uint64_t bytes;
  };

  uint64_t Rounded(uint64_t bytes) const { return (bytes + alignment_ - 1) & ~(alignment_ - 1); }

  const uint64_t alignment_;
  uint64_t used_bytes_ = 0;
  std::vector<Hole> holes_;  // ascending, never adjacent
};

}  // namespace mpsd
