// Attachment: a worker's shared memory, mapped.
//
//   segment          mapped       has                                  found by
//   mailbox          read-only    each lane's rings, batch records     mailbox(lane)
//   slab segments    read-only    rows of requests                     SlabBytes(segment, …)
//   worker segment   writable     each lane's completion records,      report(lane)
//                                 the area for outputs                 OutputBytes(…)
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/fd.h"
#include "proto/base/thread_role.h"
#include "proto/link/messages.h"
#include "proto/shm/layout.h"
#include "proto/shm/segment.h"

namespace mpsd {

// Checks headers and bounds; knows nothing of batches. Owned by the worker's main, outlives the
// lanes.
//
// Thread-safe, except Follow() and SlabSegment(): only the follower, the thread that reads the
// control socket, calls these.
//
// Invariants:
//   1. The front end removes a segment only when no lane holds a batch that names it. So an address
//      from SlabBytes() stays valid until the batch completes.
//   2. Only bytes after a segment's header are ever given out.
class Attachment {
 public:
  // Writes the worker segment's header, too. Takes the descriptors, even on failure.
  // FAILED_PRECONDITION: the front end is of another build, or a header is wrong. INVALID_ARGUMENT:
  // the sizes do not fit `lanes` or the descriptors.
  static absl::StatusOr<Attachment> Map(const AttachOrder& order, std::vector<UniqueFd> fds,
                                        uint32_t lanes, uint32_t epoch);

  // Makes the calling thread the follower for good; until then any one thread may act as it.
  // REQUIRES: called at most once.
  void BindFollower() { slabs_->follower.Bind(); }

  // Maps or unmaps a slab segment, and returns the answer to send. INVALID_ARGUMENT, with nothing
  // changed: the message is no such order, or the segment does not fit its description.
  absl::StatusOr<Message> Follow(MessageReader::Received order);

  const MailboxPage& mailbox_page() const;

  // Written by the lane.
  LaneReport* report(uint32_t lane) const;

  // Written by the front end. A write by this process ends it.
  const LaneMailbox& mailbox(uint32_t lane) const;

  // Null unless all bytes lie inside an existing segment, or inside the area for outputs.
  const char* SlabBytes(uint32_t segment, uint64_t offset, uint64_t bytes) const;
  char* OutputBytes(uint64_t offset, uint64_t bytes) const;

  absl::Span<char> OutputArea() const;

  // Empty if there is none. Called by the follower.
  absl::Span<const char> SlabSegment(uint32_t number) const;

  // The write end of the front end's bell.
  int bell_fd() const { return bell_.get(); }

 private:
  Attachment(MappedSegment mailbox, MappedSegment worker, UniqueFd bell)
      : mailbox_(std::move(mailbox)),
        worker_(std::move(worker)),
        bell_(std::move(bell)),
        slabs_(std::make_unique<Slabs>()) {}

  // The follower writes `data` last, with release. A lane reads `data` first, with acquire, so it
  // never pairs an address with another segment's length.
  struct Mapping {
    std::atomic<const char*> data{nullptr};  // null: absent
    std::atomic<uint64_t> bytes{0};
  };
  struct Slabs {
    std::array<Mapping, kMaxSlabSegments> seen;
    ThreadRole follower;
    std::array<std::optional<MappedSegment>, kMaxSlabSegments> owned ABSL_GUARDED_BY(follower);
  };

  absl::Status AddSlabs(uint32_t number, UniqueFd fd, uint64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(slabs_->follower);
  absl::Status RemoveSlabs(uint32_t number) ABSL_EXCLUSIVE_LOCKS_REQUIRED(slabs_->follower);

  MappedSegment mailbox_;
  MappedSegment worker_;
  UniqueFd bell_;
  std::unique_ptr<Slabs> slabs_;  // on the heap, so that an attachment can be moved
  uint64_t output_offset_ = 0;
};

}  // namespace mpsd
