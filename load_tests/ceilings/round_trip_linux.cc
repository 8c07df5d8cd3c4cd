#include "load_tests/ceilings/round_trip_linux.h"

#include <sched.h>

#include <algorithm>
#include <optional>

#include "proto/base/platform.h"
#include "proto/shm/doorbell.h"
#include "proto/shm/layout.h"
#include "proto/shm/ring.h"
#include "proto/shm/segment.h"

namespace mpsd {
namespace {

// A round that takes longer has lost a wake-up.
constexpr int64_t kLostWakeNs = 5 * kNsPerSecond;

// Lives on one thread.
class FrontEnd {
 public:
  FrontEnd(char* mailbox, const char* worker, int bell_poll_fd, Waiting waiting)
      : waiting_(waiting),
        bell_poll_fd_(bell_poll_fd),
        lane_(reinterpret_cast<LaneMailbox*>(mailbox + kLaneAreaOffset)),
        report_(reinterpret_cast<const LaneReport*>(worker + kLaneAreaOffset)),
        submitted_(lane_->submit_entries, &lane_->submit_tail, &report_->submit_head),
        completed_(report_->completion_entries, &report_->completion_tail, &lane_->completion_head),
        bell_(&lane_->sequence, &report_->parked),
        flag_(&reinterpret_cast<MailboxPage*>(mailbox + sizeof(SegmentHeader))->front_parked),
        poller_(platform::Poller::Create().value()) {
    MPSD_CHECK(poller_.AddReadable(bell_poll_fd, 1).ok());
  }

  void Trip(uint32_t round) {
    const uint32_t slot = round % kRingEntries;
    lane_->records[slot].batch_id = round;
    MPSD_CHECK(submitted_.Push(slot));
    if (bell_.Ring()) bell_.Wake();
    while (!completed_.Pending()) {
      if (waiting_ == Waiting::kParked) Park();
    }
    MPSD_CHECK(completed_.Peek() == slot && report_->records[slot].batch_id == round);
    completed_.Pop();
  }

 private:
  void Park() {
    flag_.Set(true);
    const bool rung = !completed_.Pending() && !poller_.Wait(kLostWakeNs).empty();
    MPSD_CHECK(rung || completed_.Pending());
    flag_.Set(false);
    if (rung) platform::ClearBell(bell_poll_fd_);
  }

  const Waiting waiting_;
  const int bell_poll_fd_;
  LaneMailbox* const lane_;
  const LaneReport* const report_;
  RingProducer submitted_;
  RingConsumer completed_;
  LaneBell bell_;
  FrontFlag flag_;
  platform::Poller poller_;
};

// Lives on one thread.
class Lane {
 public:
  Lane(const char* mailbox, char* worker, int bell_ring_fd, Waiting waiting)
      : waiting_(waiting),
        bell_ring_fd_(bell_ring_fd),
        mailbox_(reinterpret_cast<const LaneMailbox*>(mailbox + kLaneAreaOffset)),
        report_(reinterpret_cast<LaneReport*>(worker + kLaneAreaOffset)),
        submitted_(mailbox_->submit_entries, &mailbox_->submit_tail, &report_->submit_head),
        completed_(report_->completion_entries, &report_->completion_tail,
                   &mailbox_->completion_head),
        sleep_(&mailbox_->sequence, &report_->parked),
        front_bell_(
            &reinterpret_cast<const MailboxPage*>(mailbox + sizeof(SegmentHeader))->front_parked) {}

  void Answer() {
    const auto pending = [this] { return submitted_.Pending(); };
    while (!pending()) {
      if (waiting_ == Waiting::kParked) MPSD_CHECK(sleep_.Sleep(pending, kLostWakeNs));
    }
    const uint32_t slot = submitted_.Peek();
    const uint64_t id = mailbox_->records[slot].batch_id;
    submitted_.Pop();
    report_->records[slot].batch_id = id;
    MPSD_CHECK(completed_.Push(slot));
    if (front_bell_.Owed()) platform::RingBell(bell_ring_fd_);
  }

 private:
  const Waiting waiting_;
  const int bell_ring_fd_;
  const LaneMailbox* const mailbox_;
  LaneReport* const report_;
  RingConsumer submitted_;
  RingProducer completed_;
  LaneSleep sleep_;
  FrontBell front_bell_;
};

}  // namespace

std::vector<int> AllowedCores() {
  // Read once, before PinTo() narrows the kernel's report.
  static const std::vector<int> kCores = [] {
    cpu_set_t set;
    MPSD_CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) cores.push_back(core);
    }
    return cores;
  }();
  return kCores;
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int allowed : AllowedCores()) {
    if (core < 0 || core == allowed) CPU_SET(allowed, &set);
  }
  MPSD_CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
}

double QuantileUs(std::vector<int64_t>* times_ns, double quantile) {
  std::sort(times_ns->begin(), times_ns->end());
  const auto index = static_cast<size_t>(quantile * static_cast<double>(times_ns->size() - 1));
  return static_cast<double>((*times_ns)[index]) * 1e-3;
}

nlohmann::json HopRoundTrip(Waiting waiting, uint32_t rounds, int core, int peer_core) {
  const uint64_t page = platform::PageBytes();
  OwnedSegment mailbox =
      OwnedSegment::Create(SegmentKind::kMailbox, MailboxBytes(1, page), 1).value();
  OwnedSegment worker =
      OwnedSegment::Create(SegmentKind::kWorker, OutputAreaOffset(1, page), 1).value();
  const platform::Bell bell = platform::CreateBell().value();
  std::optional<MappedSegment> own;
  std::optional<Lane> lane;
  const auto answer = [&](uint32_t) {
    if (!lane.has_value()) {  // only the forked process may write to the worker's segment
      own.emplace(
          MappedSegment::Map(UniqueFd(dup(worker.peer_fd())), worker.bytes(), /*writable=*/true)
              .value());
      lane.emplace(mailbox.data(), own->data(), bell.ring_fd.get(), waiting);
    }
    lane->Answer();
  };
  FrontEnd front(mailbox.data(), worker.data(), bell.poll_fd.get(), waiting);
  return TimeRoundTrips(rounds, core, peer_core, answer,
                        [&front](uint32_t round) { front.Trip(round); });
}

}  // namespace mpsd
