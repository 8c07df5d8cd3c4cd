#include "proto/shm/segment.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "proto/base/failpoint.h"

namespace mpsd {

OwnedSegment::OwnedSegment(SegmentKind kind, platform::SharedMemory memory)
    : kind_(kind), memory_(std::move(memory)) {}

OwnedSegment::OwnedSegment(OwnedSegment&& other) noexcept
    : kind_(other.kind_), memory_(std::move(other.memory_)) {
  other.memory_.data = nullptr;
}

OwnedSegment::~OwnedSegment() {
  if (memory_.data != nullptr) platform::UnmapSharedMemory(memory_.data, memory_.bytes);
}

absl::StatusOr<OwnedSegment> OwnedSegment::Create(SegmentKind kind, uint64_t bytes,
                                                  uint32_t epoch) {
  if (const int error = MPSD_FAILPOINT_ERRNO("segment.create"); error != 0) {
    return absl::ErrnoToStatus(error, "cannot create shared memory");
  }
  const bool ours = kind != SegmentKind::kWorker;
  absl::StatusOr<platform::SharedMemory> memory = platform::CreateSharedMemory(
      bytes, ours ? platform::SharedMemoryWriter::kCreator : platform::SharedMemoryWriter::kPeer);
  if (!memory.ok()) return memory.status();
  OwnedSegment segment(kind, *std::move(memory));
  if (ours) WriteHeader(reinterpret_cast<SegmentHeader*>(segment.data()), kind, bytes, epoch);
  return segment;
}

int OwnedSegment::peer_fd() const {
  const bool peer_writes = kind_ == SegmentKind::kWorker;
  return peer_writes ? memory_.writable_fd.get() : memory_.readonly_fd.get();
}

absl::StatusOr<MappedSegment> MappedSegment::Map(UniqueFd fd, uint64_t bytes, bool writable) {
  absl::StatusOr<void*> data = platform::MapSharedMemory(fd.get(), bytes, writable);
  if (!data.ok()) return data.status();
  return MappedSegment(static_cast<char*>(*data), bytes);
}

MappedSegment::MappedSegment(MappedSegment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

MappedSegment::~MappedSegment() {
  if (data_ != nullptr) platform::UnmapSharedMemory(data_, bytes_);
}

void WriteHeader(SegmentHeader* header, SegmentKind kind, uint64_t bytes, uint32_t epoch) {
  header->version = kLayoutVersion;
  header->kind = kind;
  header->layout_hash = LayoutHash();
  header->bytes = bytes;
  header->page_bytes = static_cast<uint32_t>(platform::PageBytes());
  header->epoch = epoch;
  header->magic = kSegmentMagic;
}

absl::Status CheckHeader(const SegmentHeader& header, SegmentKind kind, uint64_t bytes) {
  const bool right = header.magic == kSegmentMagic && header.version == kLayoutVersion &&
                     header.kind == kind && header.layout_hash == LayoutHash() &&
                     header.bytes == bytes && header.page_bytes == platform::PageBytes();
  if (!right) {
    return absl::FailedPreconditionError("shared memory of another layout than this build's");
  }
  return absl::OkStatus();
}

ExtentAllocator::ExtentAllocator(uint64_t first, uint64_t bytes, uint64_t alignment)
    : alignment_(alignment) {
  MPSD_CHECK(first % alignment == 0);
  holes_.reserve(256);
  if (bytes >= alignment) holes_.push_back({first, bytes & ~(alignment - 1)});
}

std::optional<uint64_t> ExtentAllocator::Allocate(uint64_t bytes) {
  if (bytes > UINT64_MAX - alignment_) return std::nullopt;  // rounding would overflow
  const uint64_t wanted = Rounded(std::max<uint64_t>(bytes, 1));
  const auto fits = [wanted](const Hole& hole) { return hole.bytes >= wanted; };
  const auto hole = std::find_if(holes_.begin(), holes_.end(), fits);
  if (hole == holes_.end()) return std::nullopt;
  const uint64_t offset = hole->offset;
  hole->offset += wanted;
  hole->bytes -= wanted;
  if (hole->bytes == 0) holes_.erase(hole);
  used_bytes_ += wanted;
  return offset;
}

void ExtentAllocator::Free(uint64_t offset, uint64_t bytes) {
  const uint64_t length = Rounded(std::max<uint64_t>(bytes, 1));
  MPSD_CHECK(used_bytes_ >= length);
  used_bytes_ -= length;
  const auto after = [offset](const Hole& hole) { return hole.offset > offset; };
  auto next = std::find_if(holes_.begin(), holes_.end(), after);
  if (next != holes_.begin()) {
    const auto previous = next - 1;
    MPSD_CHECK(previous->offset + previous->bytes <= offset);
    if (previous->offset + previous->bytes == offset) {
      previous->bytes += length;
      if (next != holes_.end() && offset + length == next->offset) {
        previous->bytes += next->bytes;
        holes_.erase(next);
      }
      return;
    }
  }
  if (next != holes_.end()) {
    MPSD_CHECK(offset + length <= next->offset);
    if (offset + length == next->offset) {
      next->offset = offset;
      next->bytes += length;
      return;
    }
  }
  holes_.insert(next, {offset, length});
}

}  // namespace mpsd
