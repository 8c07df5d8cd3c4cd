#include "server/pool/lanes/worker_link.h"

#include <utility>

#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {
namespace {

uint64_t SegmentBytes(const WorkerLink::Options& options) {
  const uint64_t page = platform::PageBytes();
  const uint64_t bytes = OutputAreaOffset(options.lanes, page) + options.outputs.bytes;
  return (bytes + page - 1) / page * page;
}

// How much a sum has grown. The worker writes it and may lie: a decrease counts as 0.
uint64_t TakeGrowth(uint64_t sum, uint64_t* taken) {
  return sum <= *taken ? 0 : sum - std::exchange(*taken, sum);
}

MailboxPage* PageOf(OwnedSegment* mailbox) {
  return reinterpret_cast<MailboxPage*>(mailbox->data() + sizeof(SegmentHeader));
}

}  // namespace

uint64_t WorkerLink::SharedBytes(const Options& options) {
  return SegmentBytes(options) + MailboxBytes(options.lanes, platform::PageBytes());
}

absl::StatusOr<std::shared_ptr<WorkerLink>> WorkerLink::Create(const Options& options) {
  absl::StatusOr<OwnedSegment> mailbox = OwnedSegment::Create(
      SegmentKind::kMailbox, MailboxBytes(options.lanes, platform::PageBytes()), options.epoch);
  if (!mailbox.ok()) return mailbox.status();
  absl::StatusOr<OwnedSegment> worker =
      OwnedSegment::Create(SegmentKind::kWorker, SegmentBytes(options), options.epoch);
  if (!worker.ok()) return worker.status();
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  return std::shared_ptr<WorkerLink>(
      new WorkerLink(options, *std::move(mailbox), *std::move(worker), *std::move(bell)));
}

WorkerLink::WorkerLink(const Options& options, OwnedSegment mailbox, OwnedSegment worker,
                       platform::Bell bell)
    : options_(options),
      mailbox_(std::move(mailbox)),
      worker_(std::move(worker)),
      bell_(std::move(bell)),
      front_flag_(&PageOf(&mailbox_)->front_parked),
      outputs_(OutputAreaOffset(options.lanes, platform::PageBytes()), options.outputs.bytes,
               kTensorAlignment) {
  auto* mailboxes = reinterpret_cast<LaneMailbox*>(mailbox_.data() + kLaneAreaOffset);
  const auto* reports = reinterpret_cast<const LaneReport*>(worker_.data() + kLaneAreaOffset);
  for (uint32_t lane = 0; lane < options.lanes; ++lane) {
    ports_.emplace_back(mailboxes + lane, reports + lane);
  }
}

WorkerLink::~WorkerLink() { MPSD_CHECK(released_.load() == nullptr); }

std::vector<uint64_t> WorkerLink::Pins() const {
  static_assert(kMaxLanes <= 1U << 8 && kMaxWorkers < 1U << 24);
  std::vector<uint64_t> pins;
  for (uint64_t lane = 0; lane < options_.lanes; ++lane) {
    pins.push_back((uint64_t{options_.worker} + 1) << 40 | uint64_t{options_.epoch} << 8 | lane);
  }
  return pins;
}

OutputLease* WorkerLink::LeaseOutput(uint64_t bytes) {
  ReapReleased();
  const std::optional<uint64_t> offset = outputs_.Allocate(bytes);
  if (!offset.has_value()) return nullptr;
  if (spare_leases_.empty()) spare_leases_.push_back(std::make_unique<OutputLease>());
  OutputLease* lease = spare_leases_.back().release();
  spare_leases_.pop_back();
  lease->Begin(shared_from_this(), *offset, bytes);
  leases_out_.fetch_add(1, std::memory_order_relaxed);
  return lease;
}

void WorkerLink::ReapReleased() {
  OutputLease* lease = released_.exchange(nullptr, std::memory_order_seq_cst);
  while (lease != nullptr) {
    OutputLease* next = lease->next_;
    outputs_.Free(lease->offset_, lease->bytes_);
    lease->link_.reset();
    spare_leases_.emplace_back(lease);
    lease = next;
  }
}

void WorkerLink::Released(OutputLease* lease) {
  leases_out_.fetch_sub(1, std::memory_order_relaxed);
  if (detached_.load(std::memory_order_acquire)) {
    delete lease;
    return;
  }
  OutputLease* head = released_.load(std::memory_order_relaxed);
  do {
    lease->next_ = head;
  } while (!released_.compare_exchange_weak(head, lease, std::memory_order_seq_cst));
  // Detach() may have run between the check and the push. Then no other call empties the list.
  if (!detached_.load(std::memory_order_seq_cst)) return;
  for (lease = released_.exchange(nullptr); lease != nullptr;) {
    OutputLease* next = lease->next_;
    delete lease;
    lease = next;
  }
}

void WorkerLink::Detach() {
  detached_.store(true, std::memory_order_seq_cst);
  ReapReleased();
}

void WorkerLink::SetParked(bool parked) { front_flag_.Set(parked); }

void WorkerLink::SetCoresAreLeft(bool cores_are_left) {
  PageOf(&mailbox_)->cores_are_left.store(cores_are_left ? 1 : 0, std::memory_order_relaxed);
}

bool WorkerLink::TryPin(uint64_t bytes) {
  const uint64_t before = pinned_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (before + bytes <= options_.outputs.pin_limit_bytes) return true;
  Unpin(bytes);
  return false;
}

void WorkerLink::Unpin(uint64_t bytes) {
  pinned_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

LaneCounts WorkerLink::TakeCounts() {
  LaneCounts sums;
  for (const LanePort& port : ports_) {
    sums.timeout_wakeups += port.report->timeout_wakeups.load(std::memory_order_relaxed);
    sums.keep_warm_runs += port.report->keep_warm_runs.load(std::memory_order_relaxed);
    sums.memory_trims += port.report->memory_trims.load(std::memory_order_relaxed);
  }
  return {TakeGrowth(sums.timeout_wakeups, &taken_.timeout_wakeups),
          TakeGrowth(sums.keep_warm_runs, &taken_.keep_warm_runs),
          TakeGrowth(sums.memory_trims, &taken_.memory_trims)};
}

void WorkerLink::SetMemoryPressure(MemoryPressure pressure) {
  PageOf(&mailbox_)->memory_pressure.store(static_cast<uint32_t>(pressure),
                                           std::memory_order_relaxed);
}

}  // namespace mpsd
