// Segments: shared memory with one writing process, and the extents that a segment is cut into.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/platform.h"
#include "proto/shm/layout.h"

namespace mpsd {

// A segment that this process created; unmaps it when destroyed. Thread-compatible.
class OwnedSegment {
 public:
  // Slabs and mailboxes are written by this process and get their header here; a worker segment is
  // written by the worker, this process maps it read-only.
  static absl::StatusOr<OwnedSegment> Create(SegmentKind kind, uint64_t bytes, uint32_t epoch);

  OwnedSegment(OwnedSegment&& other) noexcept;
  OwnedSegment& operator=(OwnedSegment&&) = delete;
  ~OwnedSegment();

  char* data() const { return static_cast<char*>(memory_.data); }
  uint64_t bytes() const { return memory_.bytes; }

  // The descriptor that a worker gets.
  int peer_fd() const;

 private:
  OwnedSegment(SegmentKind kind, platform::SharedMemory memory);

  SegmentKind kind_;
  platform::SharedMemory memory_;
};

// A segment that a peer created, mapped here. Thread-compatible.
class MappedSegment {
 public:
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

// Writes the header that a segment of this kind begins with.
void WriteHeader(SegmentHeader* header, SegmentKind kind, uint64_t bytes, uint32_t epoch);

// FAILED_PRECONDITION unless the header is that of such a segment of this very layout.
absl::Status CheckHeader(const SegmentHeader& header, SegmentKind kind, uint64_t bytes);

// Cuts a range of bytes into extents: first fit from the low end, so that memory in use stays warm.
// Thread-compatible. Pure bookkeeping in the owner's private memory.
class ExtentAllocator {
 public:
  // Extents lie in [first, first + bytes), each at a multiple of `alignment`, a power of two.
  ExtentAllocator(uint64_t first, uint64_t bytes, uint64_t alignment);

  // The offset of `bytes` free bytes; nothing when no hole is large enough.
  std::optional<uint64_t> Allocate(uint64_t bytes);

  // REQUIRES: exactly this extent was allocated and not yet freed.
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
