#include "worker/consume/attachment.h"

#include <utility>

namespace mpsd {
namespace {

constexpr size_t kFixedFds = 3;

bool Inside(uint64_t offset, uint64_t bytes, uint64_t first, uint64_t end) {
  return offset >= first && offset <= end && bytes <= end - offset;
}

}  // namespace

absl::StatusOr<Attachment> Attachment::Map(const AttachOrder& order, std::vector<UniqueFd> fds,
                                           uint32_t lanes, uint32_t epoch) {
  if (order.layout_hash != LayoutHash()) {
    return absl::FailedPreconditionError("mpsd and mpsd-worker are of different builds");
  }
  const uint64_t output_offset = OutputAreaOffset(lanes, platform::PageBytes());
  if (fds.size() != kFixedFds + order.slab_segment_bytes.size() ||
      order.worker_segment_bytes < output_offset ||
      order.mailbox_bytes < MailboxBytes(lanes, platform::PageBytes())) {
    return absl::InvalidArgumentError("the attach order does not fit its descriptors");
  }
  absl::StatusOr<MappedSegment> mailbox =
      MappedSegment::Map(std::move(fds[0]), order.mailbox_bytes, /*writable=*/false);
  if (!mailbox.ok()) return mailbox.status();
  absl::StatusOr<MappedSegment> worker =
      MappedSegment::Map(std::move(fds[1]), order.worker_segment_bytes, /*writable=*/true);
  if (!worker.ok()) return worker.status();
  Attachment attachment(*std::move(mailbox), *std::move(worker), std::move(fds[2]));
  attachment.output_offset_ = output_offset;
  for (size_t i = 0; i < order.slab_segment_bytes.size(); ++i) {
    absl::StatusOr<MappedSegment> slabs = MappedSegment::Map(
        std::move(fds[kFixedFds + i]), order.slab_segment_bytes[i], /*writable=*/false);
    if (!slabs.ok()) return slabs.status();
    attachment.slabs_.push_back(*std::move(slabs));
  }
  const auto& header = *reinterpret_cast<const SegmentHeader*>(attachment.mailbox_.data());
  if (absl::Status status = CheckHeader(header, SegmentKind::kMailbox, order.mailbox_bytes);
      !status.ok()) {
    return status;
  }
  char* own = attachment.worker_.data();
  WriteHeader(reinterpret_cast<SegmentHeader*>(own), SegmentKind::kWorker,
              order.worker_segment_bytes, epoch);
  reinterpret_cast<WorkerPage*>(own + sizeof(SegmentHeader))->lanes = lanes;
  return attachment;
}

const MailboxPage& Attachment::mailbox_page() const {
  return *reinterpret_cast<const MailboxPage*>(mailbox_.data() + sizeof(SegmentHeader));
}

LaneReport* Attachment::report(uint32_t lane) const {
  return reinterpret_cast<LaneReport*>(worker_.data() + kLaneAreaOffset) + lane;
}

const LaneMailbox& Attachment::mailbox(uint32_t lane) const {
  return reinterpret_cast<const LaneMailbox*>(mailbox_.data() + kLaneAreaOffset)[lane];
}

const char* Attachment::SlabBytes(uint32_t segment, uint64_t offset, uint64_t bytes) const {
  if (segment >= slabs_.size()) return nullptr;
  const MappedSegment& slabs = slabs_[segment];
  if (!Inside(offset, bytes, sizeof(SegmentHeader), slabs.bytes())) return nullptr;
  return slabs.data() + offset;
}

char* Attachment::OutputBytes(uint64_t offset, uint64_t bytes) const {
  if (!Inside(offset, bytes, output_offset_, worker_.bytes())) return nullptr;
  return worker_.data() + offset;
}

}  // namespace mpsd
