// Segments: pieces of shared memory with one writing process each, and the extents within them.
//
//   front end                                     worker
//   OwnedSegment, writes   slabs, mailbox    ──▶  MappedSegment, read-only
//   OwnedSegment, reads    worker segment    ──▶  MappedSegment, writes
//
// The front end creates every segment. So memory is counted and freed in one process, and a dying
// worker takes none with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/platform.h"
#include "proto/shm/layout.h"

namespace mpsd {

// Created by this process; owned by a pool, or a worker's supervisor. Peers keep their own
// mappings. Thread-compatible.
class OwnedSegment {
 public:
  // `bytes` is a multiple of the page size, and the caller has checked the memory budget. A slab
  // segment or mailbox is writable and gets its header. A worker segment is read-only; its worker
  // writes the header.
  static absl::StatusOr<OwnedSegment> Create(SegmentKind kind, uint64_t bytes, uint32_t epoch);

  OwnedSegment(OwnedSegment&& other) noexcept;
  OwnedSegment& operator=(OwnedSegment&&) = delete;
  ~OwnedSegment();

  char* data() const { return static_cast<char*>(memory_.data); }
  uint64_t bytes() const { return memory_.bytes; }

  // The worker gets it, and can map a slab segment or mailbox only read-only.
  int peer_fd() const;

 private:
  OwnedSegment(SegmentKind kind, platform::SharedMemory memory);

  SegmentKind kind_;
  platform::SharedMemory memory_;
};

// A peer's segment, mapped here. Callers check its content. Thread-compatible.
class MappedSegment {
 public:
  // Takes the descriptor, even on failure. Fails if the object is smaller than `bytes`.
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

// Called once, by the writing process.
void WriteHeader(SegmentHeader* header, SegmentKind kind, uint64_t bytes, uint32_t epoch);

// FAILED_PRECONDITION unless the header matches in exactly this layout.
absl::Status CheckHeader(const SegmentHeader& header, SegmentKind kind, uint64_t bytes);

// Cuts a range of bytes into extents, first fit from the low end, so that memory in use stays warm.
// The front end is the only allocator. Never touches the bytes. Thread-compatible.
class ExtentAllocator {
 public:
  // Extents lie in [first, first + bytes), at multiples of `alignment`, a power of two.
  ExtentAllocator(uint64_t first, uint64_t bytes, uint64_t alignment);

  // An offset; nothing if no hole is large enough.
  std::optional<uint64_t> Allocate(uint64_t bytes);

  // REQUIRES: exactly this extent is allocated.
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
