// Attachment: the shared memory of a worker, mapped, and the places of its lanes in it.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/link/messages.h"
#include "proto/shm/layout.h"
#include "proto/shm/segment.h"

namespace mpsd {

// Thread-safe once made: nothing of it changes. Owned by the worker's main, outlives the lanes.
class Attachment {
 public:
  // Maps what came with the order and writes the worker segment's header. FAILED_PRECONDITION when
  // the front end is of another build.
  static absl::StatusOr<Attachment> Map(const AttachOrder& order, std::vector<UniqueFd> fds,
                                        uint32_t lanes, uint32_t epoch);

  const MailboxPage& mailbox_page() const;
  LaneReport* report(uint32_t lane) const;

  // The front end's words. The mapping is read-only: nothing of it may be written.
  const LaneMailbox& mailbox(uint32_t lane) const;

  // Where `bytes` at `offset` of a slab segment, or of the output area, lie; null when they are not
  // all inside it.
  const char* SlabBytes(uint32_t segment, uint64_t offset, uint64_t bytes) const;
  char* OutputBytes(uint64_t offset, uint64_t bytes) const;

  int bell_fd() const { return bell_.get(); }

 private:
  Attachment(MappedSegment mailbox, MappedSegment worker, UniqueFd bell)
      : mailbox_(std::move(mailbox)), worker_(std::move(worker)), bell_(std::move(bell)) {}

  MappedSegment mailbox_;
  MappedSegment worker_;
  UniqueFd bell_;
  std::vector<MappedSegment> slabs_;
  uint64_t output_offset_ = 0;
};

}  // namespace mpsd
