#include "worker/consume/attachment.h"

#include <utility>

namespace mpsd {
namespace {

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
  if (fds.size() != kFixedAttachFds + order.slab_segment_bytes.size() ||
      order.slab_segment_bytes.size() > kMaxSlabSegments ||
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
  attachment.slabs_->follower.Check();
  for (uint32_t i = 0; i < order.slab_segment_bytes.size(); ++i) {
    absl::Status status =
        attachment.AddSlabs(i, std::move(fds[kFixedAttachFds + i]), order.slab_segment_bytes[i]);
    if (!status.ok()) return status;
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

absl::StatusOr<Message> Attachment::Follow(MessageReader::Received order) {
  slabs_->follower.Check();
  if (const auto* added = std::get_if<SlabsAdded>(&order.message)) {
    if (order.fds.size() != 1) return absl::InvalidArgumentError("a segment has one descriptor");
    absl::Status status = AddSlabs(added->number, std::move(order.fds[0]), added->bytes);
    if (!status.ok()) return status;
    return SlabsMapped{added->number};
  }
  if (const auto* removed = std::get_if<SlabsRemoved>(&order.message)) {
    if (absl::Status status = RemoveSlabs(removed->number); !status.ok()) return status;
    return SlabsUnmapped{removed->number};
  }
  return absl::InvalidArgumentError("an order that is not expected now");
}

absl::Status Attachment::AddSlabs(uint32_t number, UniqueFd fd, uint64_t bytes) {
  if (number >= kMaxSlabSegments || slabs_->owned[number].has_value() ||
      bytes < sizeof(SegmentHeader)) {
    return absl::InvalidArgumentError("a slab segment of a wrong number or size");
  }
  absl::StatusOr<MappedSegment> segment =
      MappedSegment::Map(std::move(fd), bytes, /*writable=*/false);
  if (!segment.ok()) return segment.status();
  const auto& header = *reinterpret_cast<const SegmentHeader*>(segment->data());
  absl::Status status = CheckHeader(header, SegmentKind::kSlabs, bytes);
  if (!status.ok()) return status;
  slabs_->owned[number].emplace(*std::move(segment));
  Mapping& mapping = slabs_->seen[number];
  mapping.bytes.store(bytes, std::memory_order_relaxed);
  mapping.data.store(slabs_->owned[number]->data(), std::memory_order_release);
  return absl::OkStatus();
}

absl::Status Attachment::RemoveSlabs(uint32_t number) {
  if (number >= kMaxSlabSegments || !slabs_->owned[number].has_value()) {
    return absl::InvalidArgumentError("no slab segment has this number");
  }
  slabs_->seen[number].data.store(nullptr, std::memory_order_release);
  slabs_->owned[number].reset();
  return absl::OkStatus();
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
  if (segment >= kMaxSlabSegments) return nullptr;
  const Mapping& mapping = slabs_->seen[segment];
  const char* data = mapping.data.load(std::memory_order_acquire);
  if (data == nullptr) return nullptr;
  const uint64_t end = mapping.bytes.load(std::memory_order_relaxed);
  return Inside(offset, bytes, sizeof(SegmentHeader), end) ? data + offset : nullptr;
}

absl::Span<const char> Attachment::SlabSegment(uint32_t number) const {
  slabs_->follower.Check();
  if (number >= kMaxSlabSegments || !slabs_->owned[number].has_value()) return {};
  const MappedSegment& segment = *slabs_->owned[number];
  return absl::MakeSpan(static_cast<const char*>(segment.data()), segment.bytes());
}

absl::Span<char> Attachment::OutputArea() const {
  return {worker_.data() + output_offset_, worker_.bytes() - output_offset_};
}

char* Attachment::OutputBytes(uint64_t offset, uint64_t bytes) const {
  if (!Inside(offset, bytes, output_offset_, worker_.bytes())) return nullptr;
  return worker_.data() + offset;
}

}  // namespace mpsd
