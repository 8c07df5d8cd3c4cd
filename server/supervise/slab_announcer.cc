#include "server/supervise/slab_announcer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {

void SlabAnnouncer::Attach(const WorkerLink* worker, Send send) {
  const auto [entry, is_new] = peers_.try_emplace(worker);
  MPSD_CHECK(is_new);
  Peer& peer = entry->second;
  peer.send = std::move(send);
  for (const SlabSegment& segment : pool_->memory()->Descriptors()) {
    if (segment.number > 0 && !retiring_.test(segment.number)) Tell(segment, &peer);
  }
  if (announced_.has_value()) Tell(Announced(), &peer);
}

void SlabAnnouncer::Detach(const WorkerLink* worker) {
  MPSD_CHECK(peers_.erase(worker) == 1);
  Advance();
}

absl::Status SlabAnnouncer::Take(const WorkerLink* worker, const Message& message) {
  const auto peer = peers_.find(worker);
  std::bitset<kMaxSlabSegments>* owed = nullptr;
  uint32_t number = 0;
  if (const auto* mapped = std::get_if<SlabsMapped>(&message)) {
    owed = peer == peers_.end() ? nullptr : &peer->second.to_map;
    number = mapped->number;
  } else if (const auto* unmapped = std::get_if<SlabsUnmapped>(&message)) {
    owed = peer == peers_.end() ? nullptr : &peer->second.to_unmap;
    number = unmapped->number;
  }
  if (owed == nullptr || number >= kMaxSlabSegments || !owed->test(number)) {
    return absl::InvalidArgumentError("it sent a message out of turn");
  }
  owed->reset(number);
  if (peer->second.HasMappedAll()) peer->second.overdue_at_ns = 0;
  Advance();
  return absl::OkStatus();
}

bool SlabAnnouncer::HasMappedAll(const WorkerLink* worker) const {
  const auto peer = peers_.find(worker);
  return peer != peers_.end() && peer->second.HasMappedAll();
}

void SlabAnnouncer::Serve(const WorkerLink* worker) {
  MPSD_CHECK(HasMappedAll(worker));
  peers_.at(worker).serves = true;
}

std::vector<const WorkerLink*> SlabAnnouncer::Tick(
    const std::function<bool(const WorkerLink*)>& is_warm, int64_t now_ns) {
  if (!announced_.has_value()) {
    if (const std::optional<uint64_t> bytes = pool_->memory()->TakeGrowthRequest()) Grow(*bytes);
  }
  if (now_ns >= next_look_ns_) {
    next_look_ns_ = now_ns + kLookNs;
    const std::optional<uint32_t> number = pool_->memory()->RetireIdle(kIdleLooks);
    if (number.has_value()) Retire(*number);
  }
  std::vector<const WorkerLink*> overdue;
  for (auto& [worker, peer] : peers_) {
    if (peer.HasMappedAll() || !is_warm(worker)) continue;
    if (peer.overdue_at_ns == 0) peer.overdue_at_ns = now_ns + kPatienceNs;
    if (now_ns < peer.overdue_at_ns) continue;
    peer.overdue_at_ns = INT64_MAX;
    overdue.push_back(worker);
  }
  return overdue;
}

void SlabAnnouncer::Grow(uint64_t bytes) {
  uint32_t number = 1;
  while (number < kMaxSlabSegments && taken_.test(number)) ++number;
  const std::string what = absl::StrCat("more rows of model '", model_, "'");
  if (number == kMaxSlabSegments || !budget_->TakeUnderLoad(bytes, what).ok())
    return pool_->memory()->Refuse();
  absl::StatusOr<OwnedSegment> segment = OwnedSegment::Create(SegmentKind::kSlabs, bytes, 0);
  if (!segment.ok()) {
    budget_->GiveBack(bytes);
    return pool_->memory()->Refuse();
  }
  taken_.set(number);
  announced_.emplace(*std::move(segment));
  announced_number_ = number;
  for (auto& [worker, peer] : peers_) Tell(Announced(), &peer);
  Advance();
}

void SlabAnnouncer::Retire(uint32_t number) {
  retiring_.set(number);
  for (auto& [worker, peer] : peers_) {
    peer.to_unmap.set(number);
    peer.send(SlabsRemoved{number}, {}).IgnoreError();
  }
  Advance();
}

void SlabAnnouncer::Tell(const SlabSegment& segment, Peer* peer) {
  peer->to_map.set(segment.number);
  peer->send(SlabsAdded{segment.number, segment.bytes}, {segment.fd}).IgnoreError();
}

// An announced segment waits only for workers that get batches: one that warms up may take minutes.
// A retiring one waits for all, since its number is used again.
void SlabAnnouncer::Advance() {
  std::bitset<kMaxSlabSegments> unmapped;
  std::bitset<kMaxSlabSegments> missing;
  for (const auto& [worker, peer] : peers_) {
    if (peer.serves) unmapped |= peer.to_map;
    missing |= peer.to_map | peer.to_unmap;
  }
  if (announced_.has_value() && !unmapped.test(announced_number_)) {
    OwnedSegment segment = *std::move(announced_);
    announced_.reset();
    pool_->memory()->Add(std::move(segment), announced_number_);
  }
  for (uint32_t number = 1; number < kMaxSlabSegments; ++number) {
    if (!retiring_.test(number) || missing.test(number)) continue;
    const OwnedSegment segment = pool_->memory()->Remove(number);
    budget_->GiveBack(segment.bytes());
    retiring_.reset(number);
    taken_.reset(number);
  }
}

SlabSegment SlabAnnouncer::Announced() const {
  return {announced_number_, announced_->peer_fd(), announced_->bytes()};
}

}  // namespace mpsd
