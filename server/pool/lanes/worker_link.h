// WorkerLink: the front end's side of one worker incarnation.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/base/memory_pressure.h"
#include "proto/shm/doorbell.h"
#include "proto/shm/layout.h"
#include "proto/shm/ring.h"
#include "proto/shm/segment.h"
#include "server/pool/lanes/output_lease.h"
#include "server/pool/lanes/output_sizing.h"

namespace mpsd {

// Thread-compatible: the pool's mutex guards it, except LaneBell::Wake() of `bell`.
struct LanePort {
  LanePort(LaneMailbox* mailbox_words, const LaneReport* report_words)
      : mailbox(mailbox_words),
        report(report_words),
        submit(mailbox_words->submit_entries, &mailbox_words->submit_tail,
               &report_words->submit_head),
        completions(report_words->completion_entries, &report_words->completion_tail,
                    &mailbox_words->completion_head),
        bell(&mailbox_words->sequence, &report_words->parked) {}

  LaneMailbox* const mailbox;
  const LaneReport* const report;  // written by the worker: read each word once, and trust none
  RingProducer submit;
  RingConsumer completions;
  LaneBell bell;
  uint64_t completed = 0;
  uint32_t announced = 0;  // value at the last NoteAnnounced()

  void NoteAnnounced() { announced = report->announced.load(std::memory_order_acquire); }

  // A lane rings before it announces a completion. True if the next completion to take was
  // announced at NoteAnnounced(): its bell should have been heard.
  bool WasAnnounced() const {
    return static_cast<int32_t>(announced - static_cast<uint32_t>(completed)) > 0;
  }
};

struct LaneCounts {
  uint64_t timeout_wakeups = 0;  // sleeps ended by time-out, with work there
  uint64_t keep_warm_runs = 0;
  uint64_t memory_trims = 0;
};

// Made by supervise/. Shared with the pool while the worker serves, and with every answer whose
// bytes lie in the worker's segment; the last owner unmaps the segments. Thread-safe where the
// sections below say so; the pool's mutex guards the rest.
//
// Invariants:
//  1. Each lease that is out holds a reference on its link, so that its bytes stay mapped.
//  2. Extents are allocated and freed under the pool's mutex only. Released() merely puts a lease
//     into a lock-free list, which LeaseOutput(), ReapReleased() and Detach() empty.
//  3. After Detach() no lease stays in that list: Released() deletes the lease itself, even if the
//     two calls race.
class WorkerLink : public std::enable_shared_from_this<WorkerLink> {
 public:
  struct Options {
    uint32_t worker = 0;  // index in the pool
    uint32_t epoch = 0;
    uint32_t lanes = 1;
    OutputArea outputs;
    std::string device = "cpu";
  };

  // The slabs are not counted.
  static uint64_t SharedBytes(const Options& options);

  static absl::StatusOr<std::shared_ptr<WorkerLink>> Create(const Options& options);
  ~WorkerLink();

  // ---- for supervise/: sent to the worker ----
  const OwnedSegment& mailbox_segment() const { return mailbox_; }
  const OwnedSegment& worker_segment() const { return worker_; }
  const platform::Bell& bell() const { return bell_; }
  uint32_t worker() const { return options_.worker; }
  uint32_t epoch() const { return options_.epoch; }
  uint32_t lanes() const { return options_.lanes; }
  const std::string& device() const { return options_.device; }

  // One per lane. Unique among all workers of the pool and their incarnations; none is 0.
  std::vector<uint64_t> Pins() const;

  // Keeps `token` until the last owner unmaps the segments, perhaps long after the worker's death.
  // Called once, before the pool gets the link.
  void HoldUntilUnmapped(std::shared_ptr<void> token) { token_ = std::move(token); }

  // ---- for the pool, under its mutex ----
  std::deque<LanePort>& ports() { return ports_; }

  // The caller gets one reference. Null if the area is full; the pool then tries again at its next
  // drain or tick. A release wakes nobody: a write to a descriptor that a worker shares could
  // block.
  OutputLease* LeaseOutput(uint64_t bytes);
  const OutputArea& outputs() const { return options_.outputs; }
  const char* OutputData(uint64_t offset) const { return worker_.data() + offset; }

  void ReapReleased();

  // True: the front end is about to sleep, so the worker must ring after each completion.
  void SetParked(bool parked);

  void SetCoresAreLeft(bool cores_are_left);

  // The worker is gone: leases returned from now on are deleted.
  void Detach();

  // The worker's own word: nothing depends on it.
  LaneCounts TakeCounts();

  // ---- any thread ----

  void SetMemoryPressure(MemoryPressure pressure);

  // REQUIRES: the lease has no reference.
  void Released(OutputLease* lease);

  // False if unread answers pin too much. Each success is followed by one Unpin(), also after
  // Detach().
  bool TryPin(uint64_t bytes);
  void Unpin(uint64_t bytes);

  uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }

  uint32_t leases_out() const { return leases_out_.load(std::memory_order_relaxed); }

 private:
  WorkerLink(const Options& options, OwnedSegment mailbox, OwnedSegment worker,
             platform::Bell bell);

  std::shared_ptr<void> token_;  // first member, so that it is destroyed after the segments
  const Options options_;
  OwnedSegment mailbox_;
  OwnedSegment worker_;
  platform::Bell bell_;
  FrontFlag front_flag_;
  std::deque<LanePort> ports_;
  ExtentAllocator outputs_;
  std::vector<std::unique_ptr<OutputLease>> spare_leases_;

  std::atomic<OutputLease*> released_{nullptr};
  std::atomic<bool> detached_{false};
  std::atomic<uint64_t> pinned_bytes_{0};
  std::atomic<uint32_t> leases_out_{0};
  LaneCounts taken_;
};

}  // namespace mpsd
