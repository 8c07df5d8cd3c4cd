// Attachment: the shared memory of a worker, mapped, and the places of its lanes in it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "proto/shm/layout.h"
#include "proto/shm/segment.h"

namespace mpsd {

// Owned by the worker's main, outlives the lanes. Thread-safe once made, but for Follow() and
// SlabSegment(), which are for the thread that follows the front end: the main thread, but where
// that is a lane. Slab segments may come and go meanwhile, though never one that a batch of a lane
// names.
class Attachment {
 public:
  // Maps what came with the order and writes the worker segment's header. FAILED_PRECONDITION when
  // the front end is of another build.
  static absl::StatusOr<Attachment> Map(const AttachOrder& order, std::vector<UniqueFd> fds,
                                        uint32_t lanes, uint32_t epoch);

  // Does what the front end says of its slab segments, and gives the answer to it. INVALID_ARGUMENT
  // for any other message, and for a segment that is not what was said.
  absl::StatusOr<Message> Follow(MessageReader::Received order);

  const MailboxPage& mailbox_page() const;
  LaneReport* report(uint32_t lane) const;

  // The front end's words. The mapping is read-only: nothing of it may be written.
  const LaneMailbox& mailbox(uint32_t lane) const;

  // Where `bytes` at `offset` of a slab segment, or of the output area, lie; null when they are not
  // all inside it.
  const char* SlabBytes(uint32_t segment, uint64_t offset, uint64_t bytes) const;
  char* OutputBytes(uint64_t offset, uint64_t bytes) const;

  // The whole of a slab segment, empty where there is none of that number. For the thread that
  // follows the front end.
  absl::Span<const char> SlabSegment(uint32_t number) const;

  int bell_fd() const { return bell_.get(); }

 private:
  Attachment(MappedSegment mailbox, MappedSegment worker, UniqueFd bell)
      : mailbox_(std::move(mailbox)),
        worker_(std::move(worker)),
        bell_(std::move(bell)),
        slabs_(std::make_unique<Slabs>()) {}

  // A slab segment as the lanes see it. The length is written first and the address read first.
  struct Mapping {
    std::atomic<const char*> data{nullptr};  // null: absent
    std::atomic<uint64_t> bytes{0};
  };
  struct Slabs {
    std::array<Mapping, kMaxSlabSegments> seen;
    std::array<std::optional<MappedSegment>, kMaxSlabSegments> owned;  // the main thread's
  };

  absl::Status AddSlabs(uint32_t number, UniqueFd fd, uint64_t bytes);
  absl::Status RemoveSlabs(uint32_t number);

  MappedSegment mailbox_;
  MappedSegment worker_;
  UniqueFd bell_;
  std::unique_ptr<Slabs> slabs_;
  uint64_t output_offset_ = 0;
};

}  // namespace mpsd
