// Lane: one inference thread of a worker, with its two rings and its bell.
//
//   bind, warm up ─▶ ┌─▶ nothing submitted? park until the lane's bell rings
//                    │   (idle for long, or memory is short? keep warm, trim    LaneUpkeep)
//                    │   else a slot: copy and check its batch record, pop the entry   BatchReader
//                    │       run the batch, unless nobody waits for it             BatchExecutor
//                    │       write the completion record, push the slot
//                    │       ring the front end's bell, if the front end is parked
//                    └────── announce the completion
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "proto/base/clock.h"
#include "proto/base/patience.h"
#include "proto/base/thread_role.h"
#include "proto/link/warm_up.h"
#include "proto/link/warm_up_sample.h"
#include "proto/shm/doorbell.h"
#include "proto/shm/ring.h"
#include "worker/consume/attachment.h"
#include "worker/consume/batch_reader.h"
#include "worker/consume/lane_upkeep.h"
#include "worker/execute/batch_executor.h"
#include "worker/model/model.h"

namespace mpsd {

// Owned by the worker's main(). A started lane ends only with the process. A batch is skipped,
// without a run, if the front end has cancelled it or its last deadline has passed. A batch fails
// if its record cannot be true or the model throws. A lost device ends the process.
//
// Lives on the lane's thread. main() chooses the thread:
//   Start(), then WarmedUp()         a thread of the lane's own; main() calls only these two
//   WarmUpHere(), then RunHere()     the calling thread becomes the lane's thread
//
// Invariants:
//   1. Each submitted slot is completed exactly once, in order, unless the process ends first.
//   2. The lane pops an entry after copying its record and before the run, so the front end can
//      submit the next batch. The slot stays the lane's until its completion is pushed.
//   3. The completion record is complete before its slot is pushed.
class Lane {
 public:
  // All pointers and everything that `upkeep` refers to outlive the lane.
  Lane(uint32_t index, const Attachment* attachment, Model* model, const Clock* clock,
       const LaneUpkeep::Options& upkeep = {});

  // Starts the lane's thread, which warms up, then serves. The samples outlive the warm-up. Called
  // once.
  void Start(WarmUp warmup, absl::Span<const WarmUpSample> samples = {});

  // Blocks until the lane is warm, or returns why it cannot serve; its thread has then ended.
  absl::Status WarmedUp();

  // REQUIRES: called once.
  absl::Status WarmUpHere(WarmUp warmup, absl::Span<const WarmUpSample> samples = {});

  // Why the warm-up ended early although the lane serves, or empty. REQUIRES: the lane is warm.
  const std::string& warning() const { return warning_; }

  // The result of RecordRuns(); empty if nothing was recorded. REQUIRES: the lane is warm.
  const std::string& records() const { return records_; }

  // A front end that breaks the ring's rules ends the process. REQUIRES: WarmUpHere() has returned
  // OK on this thread.
  [[noreturn]] void RunHere();

 private:
  absl::Status RecordRuns();
  void Main(WarmUp warmup, absl::Span<const WarmUpSample> samples);
  void Idle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  bool LooksOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  void Sleep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  void ServeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  MemoryPressure Pressure() const;
  void Complete(uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);

  const uint32_t index_;
  const Attachment* const attachment_;
  Model* const model_;
  const Clock* const clock_;
  LaneReport* const report_;  // written by the lane's thread alone

  absl::Notification warmed_up_;
  absl::Status warmup_status_;  // like the next two, written before warmed_up_ is notified
  std::string warning_;
  std::string records_;

  ThreadRole lane_thread_;
  RingConsumer submitted_ ABSL_GUARDED_BY(lane_thread_);
  RingProducer completed_ ABSL_GUARDED_BY(lane_thread_);
  uint32_t completed_count_ ABSL_GUARDED_BY(lane_thread_) = 0;
  LaneSleep sleep_ ABSL_GUARDED_BY(lane_thread_);
  Patience patience_ ABSL_GUARDED_BY(lane_thread_);
  FrontBell front_bell_ ABSL_GUARDED_BY(lane_thread_);
  BatchReader reader_ ABSL_GUARDED_BY(lane_thread_);
  BatchExecutor executor_ ABSL_GUARDED_BY(lane_thread_);
  LaneUpkeep upkeep_ ABSL_GUARDED_BY(lane_thread_);
  Batch batch_ ABSL_GUARDED_BY(lane_thread_);

  std::thread thread_;
};

}  // namespace mpsd
