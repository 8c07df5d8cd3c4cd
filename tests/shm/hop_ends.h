// The two ends of a lane with nothing behind them: what the front end and a lane do with rings and
// doorbells, and only that. A hop is a batch id that goes to the lane and comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "proto/base/check.h"
#include "proto/shm/doorbell.h"
#include "proto/shm/layout.h"
#include "proto/shm/ring.h"

namespace mpsd {

// Longer than any wait of a test that passes: a sleep that it ends was a lost wake.
inline constexpr int64_t kLostWakeNs = 20LL * 1'000'000'000;

// Ends a lane's serving.
inline constexpr uint64_t kStopHop = UINT64_MAX;

// How many times an end looks for work before it sleeps, and for how many steps it dawdles before
// and after its last look, where a wake would be lost if it could be; asked for each time.
using Patience = std::function<uint32_t()>;

// Every other time it lets the peer run, which on a busy host would not happen there by itself.
inline void Dawdle(uint32_t steps) {
  if (steps % 2 == 1) std::this_thread::yield();
  for (volatile uint32_t i = 0; i < steps;) i = i + 1;
}

// Looks for work `looks` times, letting others run in between. True when there was some.
inline bool LookFor(const RingConsumer& ring, uint32_t looks) {
  for (uint32_t i = 0; i < looks; ++i) {
    if (ring.Pending()) return true;
    if (i % 64 == 63) std::this_thread::yield();
  }
  return ring.Pending();
}

// The front end's end: submits as a pool does, waits as the plane's last thread does. Lives on one
// thread.
class FrontHops {
 public:
  FrontHops(MailboxPage* page, LaneMailbox* mailbox, const LaneReport* report, int bell_poll_fd,
            Patience patience)
      : mailbox_(mailbox),
        report_(report),
        bell_poll_fd_(bell_poll_fd),
        patience_(std::move(patience)),
        submitted_(mailbox->submit_entries, &mailbox->submit_tail, &report->submit_head),
        completed_(report->completion_entries, &report->completion_tail, &mailbox->completion_head),
        bell_(&mailbox->sequence, &report->parked),
        front_flag_(&page->front_parked),
        poller_(platform::Poller::Create().value()) {
    MPSD_CHECK(poller_.AddReadable(bell_poll_fd, 1).ok());
  }

  // REQUIRES: fewer than kRingEntries are inside.
  void Submit(uint64_t id) {
    const uint32_t place = next_++ % kRingEntries;
    mailbox_->records[place].batch_id = id;
    MPSD_CHECK(submitted_.Push(place));
    if (!bell_.Ring()) return;
    bell_.Wake();
    ++wakes_;
  }

  // The next completed id.
  uint64_t Take() {
    while (!LookFor(completed_, patience_())) Park();
    MPSD_CHECK(!completed_.Corrupt());
    const uint32_t place = completed_.Peek();
    MPSD_CHECK(place < kRingEntries);
    const uint64_t id = report_->records[place].batch_id;
    completed_.Pop();
    return id;
  }

  uint64_t wakes() const { return wakes_; }
  uint64_t parks() const { return parks_; }

  // Sleeps that only the time-out ended, on either side, though there was work.
  uint64_t lost_wakes() const { return lost_wakes_ + report_->timeout_wakeups.load(); }

 private:
  void Park() {
    front_flag_.Set(true);
    Dawdle(patience_());
    bool rung = false;
    if (!completed_.Pending()) {
      Dawdle(patience_());
      rung = !poller_.Wait(kLostWakeNs).empty();
      if (!rung && completed_.Pending()) ++lost_wakes_;
      ++parks_;
    }
    front_flag_.Set(false);
    if (rung) platform::ClearBell(bell_poll_fd_);
  }

  LaneMailbox* const mailbox_;
  const LaneReport* const report_;
  const int bell_poll_fd_;
  const Patience patience_;
  RingProducer submitted_;
  RingConsumer completed_;
  LaneBell bell_;
  FrontFlag front_flag_;
  platform::Poller poller_;
  uint32_t next_ = 0;
  uint64_t wakes_ = 0;
  uint64_t parks_ = 0;
  uint64_t lost_wakes_ = 0;
};

// The lane's end: takes, sleeps and completes as a worker's lane does. Lives on one thread.
class LaneHops {
 public:
  LaneHops(const MailboxPage* page, const LaneMailbox* mailbox, LaneReport* report,
           int bell_ring_fd, Patience patience)
      : mailbox_(mailbox),
        report_(report),
        bell_ring_fd_(bell_ring_fd),
        patience_(std::move(patience)),
        submitted_(mailbox->submit_entries, &mailbox->submit_tail, &report->submit_head),
        completed_(report->completion_entries, &report->completion_tail, &mailbox->completion_head),
        sleep_(&mailbox->sequence, &report->parked),
        front_bell_(&page->front_parked) {}

  // Gives every id back until kStopHop, which it gives back too.
  void Serve() {
    for (uint64_t id = 0; id != kStopHop;) {
      while (!LookFor(submitted_, patience_())) Sleep();
      MPSD_CHECK(!submitted_.Corrupt());
      const uint32_t place = submitted_.Peek();
      MPSD_CHECK(place < kRingEntries);
      id = mailbox_->records[place].batch_id;
      submitted_.Pop();
      report_->records[place].batch_id = id;
      MPSD_CHECK(completed_.Push(place));
      if (front_bell_.Owed()) platform::RingBell(bell_ring_fd_);
    }
  }

 private:
  void Sleep() {
    const bool woken = sleep_.Sleep([this] { return LookForTheLastTime(); }, kLostWakeNs);
    if (!woken && submitted_.Pending()) {
      report_->timeout_wakeups.fetch_add(1, std::memory_order_relaxed);
    }
  }

  bool LookForTheLastTime() {
    Dawdle(patience_());
    const bool pending = submitted_.Pending();
    if (!pending) Dawdle(patience_());
    return pending;
  }

  const LaneMailbox* const mailbox_;
  LaneReport* const report_;
  const int bell_ring_fd_;
  const Patience patience_;
  RingConsumer submitted_;
  RingProducer completed_;
  LaneSleep sleep_;
  FrontBell front_bell_;
};

}  // namespace mpsd
