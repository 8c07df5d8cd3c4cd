// WorkerLink: the front end's side of one worker incarnation: its mailbox, its segment, its lanes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/shm/doorbell.h"
#include "proto/shm/layout.h"
#include "proto/shm/ring.h"
#include "proto/shm/segment.h"
#include "server/batch/batcher.h"
#include "server/dispatch/output_lease.h"
#include "server/dispatch/slot_state.h"
#include "server/request/completed_batch.h"

namespace mpsd {

// A batch that a lane has, or had. Owned by its lane's port, then by whoever gives its replies.
struct InflightBatch {
  Slot slot;
  uint64_t id = 0;
  FormedBatch formed;
  OutputLease* lease = nullptr;  // holds one reference
  int64_t batched_ns = 0;
  CompletedBatch completed;
};

// One lane as the front end drives it. Guarded by the pool's mutex, but for Pending().
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
  const LaneReport* const report;  // hostile
  RingProducer submit;
  RingConsumer completions;
  LaneBell bell;
  std::array<std::unique_ptr<InflightBatch>, kRingEntries> inflight;  // by record
  uint32_t inflight_count = 0;
  uint64_t completed = 0;  // batches that came back
  uint32_t announced = 0;  // of NoteAnnounced()

  // Keeps of how many completions the lane has done all that it does to tell.
  void NoteAnnounced() { announced = report->announced.load(std::memory_order_acquire); }

  // True when the next completion was one of them.
  bool WasAnnounced() const {
    return static_cast<int32_t>(announced - static_cast<uint32_t>(completed)) > 0;
  }
};

// Thread-safe where said. Made by supervise/ when a worker has loaded its model, shared with the
// pool while it serves, and with every answer whose bytes still lie in the worker's segment. What
// the pool uses is guarded by the pool's mutex; the release list and the pinned count are
// lock-free.
class WorkerLink : public std::enable_shared_from_this<WorkerLink> {
 public:
  struct Options {
    uint32_t worker = 0;  // index in the pool
    uint32_t epoch = 0;
    uint32_t lanes = 1;
    uint64_t output_bytes = 0;
    uint64_t pin_limit_bytes = 0;
  };

  // Bytes of shared memory that a worker takes, slabs not counted.
  static uint64_t SharedBytes(const Options& options);

  static absl::StatusOr<std::shared_ptr<WorkerLink>> Create(const Options& options);
  ~WorkerLink();

  // ---- for supervise/: what the worker gets ----
  const OwnedSegment& mailbox_segment() const { return mailbox_; }
  const OwnedSegment& worker_segment() const { return worker_; }
  const platform::Bell& bell() const { return bell_; }
  uint32_t worker() const { return options_.worker; }
  uint32_t epoch() const { return options_.epoch; }
  uint32_t lanes() const { return options_.lanes; }

  // Keeps `token` until the segments are unmapped, which may be long after the worker's death: the
  // last answer that lies in them lets them go. Called once, before the pool gets the link.
  void HoldUntilUnmapped(std::shared_ptr<void> token) { token_ = std::move(token); }

  // ---- for the pool, under its mutex ----
  std::deque<LanePort>& ports() { return ports_; }
  uint32_t inflight_batches = 0;
  bool isolated = false;   // kept for suspects
  bool condemned = false;  // caught lying: gets nothing any more, will be killed
  bool quiesced = false;   // finishes what it has, and is then asked to go
  uint64_t answered_requests = 0;
  bool takes_batches() const { return !condemned && !quiesced; }

  // A lease of `bytes`; null when the area is full. Then the next drain, or the next tick at the
  // latest, tries again: a release may come from any thread and must not meet a descriptor that the
  // worker could have made to block.
  OutputLease* LeaseOutput(uint64_t bytes);
  uint64_t output_area_bytes() const { return options_.output_bytes; }
  const char* OutputData(uint64_t offset) const { return worker_.data() + offset; }

  // Frees what has been released since.
  void ReapReleased();

  // Workers ring the bell after publishing, or leave it alone.
  void SetParked(bool parked);

  // The worker is gone: from now on released leases only go away.
  void Detach();

  // ---- any thread ----
  void Released(OutputLease* lease);
  // For leases: charges one of `bytes` as pinned. False beyond the limit.
  bool TryPin(uint64_t bytes);
  void Unpin(uint64_t bytes);
  // Of the leases that answers which were not read yet lie in, whole.
  uint64_t pinned_bytes() const { return pinned_bytes_.load(std::memory_order_relaxed); }
  // Leases that somebody holds a reference on.
  uint32_t leases_out() const { return leases_out_.load(std::memory_order_relaxed); }
  // The lanes' wake-ups by time-out since this was asked last. REQUIRES: the pool's lock is held.
  uint64_t TakeTimeoutWakeups();

 private:
  WorkerLink(const Options& options, OwnedSegment mailbox, OwnedSegment worker,
             platform::Bell bell);

  std::shared_ptr<void> token_;  // first, so that it goes after the segments
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
  uint64_t taken_timeout_wakeups_ = 0;
};

}  // namespace mpsd
