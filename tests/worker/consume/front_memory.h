// FrontMemory: the front end's side of a worker's shared memory, inside a test.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "proto/link/messages.h"
#include "proto/shm/layout.h"
#include "proto/shm/segment.h"

namespace mpsd {

// Owns the segments and the bell, as a worker's link does, with two slab segments of one page each.
// Thread-compatible.
class FrontMemory {
 public:
  explicit FrontMemory(uint32_t lanes = 1)
      : lanes_(lanes),
        mailbox_(Create(SegmentKind::kMailbox, MailboxBytes(lanes, Page()))),
        worker_(Create(SegmentKind::kWorker, output_offset() + Page())),
        bell_(platform::CreateBell().value()) {
    for (int i = 0; i < 2; ++i) slabs_.push_back(Create(SegmentKind::kSlabs, Page()));
  }

  static uint64_t Page() { return platform::PageBytes(); }

  // The order and the descriptors that a worker gets.
  AttachOrder Order() const {
    AttachOrder order;
    order.layout_hash = LayoutHash();
    order.mailbox_bytes = mailbox_.bytes();
    order.worker_segment_bytes = worker_.bytes();
    for (const OwnedSegment& slab : slabs_) order.slab_segment_bytes.push_back(slab.bytes());
    return order;
  }
  std::vector<UniqueFd> Fds() const {
    std::vector<UniqueFd> fds;
    fds.emplace_back(dup(mailbox_.peer_fd()));
    fds.emplace_back(dup(worker_.peer_fd()));
    fds.emplace_back(dup(bell_.ring_fd.get()));
    for (const OwnedSegment& slab : slabs_) fds.emplace_back(dup(slab.peer_fd()));
    return fds;
  }

  MailboxPage* page() const {
    return reinterpret_cast<MailboxPage*>(mailbox_.data() + sizeof(SegmentHeader));
  }
  LaneMailbox* mailbox(uint32_t lane) const {
    return reinterpret_cast<LaneMailbox*>(mailbox_.data() + kLaneAreaOffset) + lane;
  }
  const LaneReport* report(uint32_t lane) const {
    return reinterpret_cast<const LaneReport*>(worker_.data() + kLaneAreaOffset) + lane;
  }
  char* slab(uint32_t segment) const { return slabs_[segment].data(); }
  const char* worker_data() const { return worker_.data(); }
  uint64_t worker_bytes() const { return worker_.bytes(); }
  uint64_t output_offset() const { return OutputAreaOffset(lanes_, Page()); }
  int bell_poll_fd() const { return bell_.poll_fd.get(); }

 private:
  static OwnedSegment Create(SegmentKind kind, uint64_t bytes) {
    return OwnedSegment::Create(kind, bytes, /*epoch=*/1).value();
  }

  const uint32_t lanes_;
  OwnedSegment mailbox_;
  OwnedSegment worker_;
  std::vector<OwnedSegment> slabs_;
  platform::Bell bell_;
};

}  // namespace mpsd
