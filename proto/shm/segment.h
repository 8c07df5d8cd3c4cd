// Segments: pieces of shared memory with one writing process each, and the extents within them.
//
//   front end                                     worker
//   OwnedSegment, writes   slabs, mailbox    ──▶  MappedSegment, read-only
//   OwnedSegment, reads    worker segment    ──▶  MappedSegment, writes
//
// The front end creates every segment and sends a descriptor; the worker maps it. So memory is
// counted and freed in one process, and a dying worker takes none with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/platform.h"
#include "proto/shm/layout.h"

namespace mpsd {

// A segment that this process created. Owned by its allocator: a pool, or a worker's supervisor.
// Unmaps the memory when destroyed; peers keep their own mappings. Thread-compatible.
class OwnedSegment {
 public:
  // Allocates and maps a segment of `bytes` bytes, a multiple of the page size. The caller has
  // checked the memory budget. A slab segment or mailbox is writable and gets its header here. A
  // worker segment is read-only here; its worker writes the header.
  static absl::StatusOr<OwnedSegment> Create(SegmentKind kind, uint64_t bytes, uint32_t epoch);

  OwnedSegment(OwnedSegment&& other) noexcept;
  OwnedSegment& operator=(OwnedSegment&&) = delete;
  ~OwnedSegment();

  char* data() const { return static_cast<char*>(memory_.data); }
  uint64_t bytes() const { return memory_.bytes; }

  // The descriptor to send to the worker. For a slab segment or mailbox it can only be mapped
  // read-only.
  int peer_fd() const;

 private:
  OwnedSegment(SegmentKind kind, platform::SharedMemory memory);

  SegmentKind kind_;
  platform::SharedMemory memory_;
};

// A segment that a peer created, mapped here. Unmaps it when destroyed. The peer wrote its content,
// so callers check it. Thread-compatible.
class MappedSegment {
 public:
  // Takes the descriptor, even if it fails. Fails if the object is smaller than `bytes`.
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

// Writes the header of a segment of this kind. Called once, by the writing process.
void WriteHeader(SegmentHeader* header, SegmentKind kind, uint64_t bytes, uint32_t epoch);

// FAILED_PRECONDITION unless the header matches such a segment in exactly this layout.
absl::Status CheckHeader(const SegmentHeader& header, SegmentKind kind, uint64_t bytes);

// Cuts a range of bytes into extents, first fit from the low end, so that memory in use stays warm.
// The front end is the only allocator of all segments. Bookkeeping in the owner's private memory;
// never touches the bytes. Thread-compatible.
class ExtentAllocator {
 public:
  // Extents lie in [first, first + bytes), each at a multiple of `alignment`, a power of two.
  ExtentAllocator(uint64_t first, uint64_t bytes, uint64_t alignment);

  // The offset of `bytes` free bytes; nothing if no hole is large enough.
  std::optional<uint64_t> Allocate(uint64_t bytes);

  // Frees an extent. REQUIRES: exactly this extent was allocated and not yet freed.
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
