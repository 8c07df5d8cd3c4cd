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

// One inference thread of a worker: steps 8 to 10 of a request's life (ARCHITECTURE.md). Takes the
// slots that the front end submitted, in order; copies and checks each batch record; runs the
// batch; writes the completion record of the same slot and publishes it. Waits for nothing but its
// own bell (and, inside the model, the device; and for a trim by the first lane). Decides nothing
// about other batches: order and retries are the front end's.
//
// Owned by the worker's main(), which starts the lanes one after another. A lane never stops by
// itself: it ends with the process, and a started lane is never destroyed. A batch that the front
// end has marked as cancelled, or whose last deadline has passed, completes as skipped without a
// run. A batch record that cannot be true, and a model that throws, complete as failed; a device
// that is lost ends the process.
//
// Lives on the lane's thread. Which one that is, main() chooses:
//   Start(), then WarmedUp()         a thread of the lane's own; main() calls only these two
//   WarmUpHere(), then RunHere()     the main thread itself becomes the lane's thread
//
// Invariants:
//   1. Each submitted slot is completed exactly once, in the order of submission, unless the
//      process ends first.
//   2. The batch record is copied, then its entry is popped from the submit ring, then the batch
//      runs: the front end can submit the next batch meanwhile. The slot stays the lane's until its
//      completion is pushed.
//   3. The completion record is written whole before its slot is pushed.
class Lane {
 public:
  // `attachment`, `model` and `clock` outlive the lane, and so does what `upkeep` refers to.
  Lane(uint32_t index, const Attachment* attachment, Model* model, const Clock* clock,
       const LaneUpkeep::Options& upkeep = {});

  // Starts the lane's thread, which binds itself to the lane's device stream, warms up, then
  // serves. The samples outlive the warm-up. Called once, and not where WarmUpHere() is used.
  void Start(WarmUp warmup, absl::Span<const WarmUpSample> samples = {});

  // Blocks until the lane is warm, and returns OK; or returns why it cannot serve. After an error
  // the lane's thread has ended. There is no time limit here: the front end has one for the start.
  absl::Status WarmedUp();

  // Makes the calling thread the lane's thread and warms the lane up. REQUIRES: called once.
  absl::Status WarmUpHere(WarmUp warmup, absl::Span<const WarmUpSample> samples = {});

  // Why the warm-up ended early: the model has refused it, or memory did not suffice for one of its
  // larger shapes; empty when it did not. The lane serves all the same.
  // REQUIRES: WarmedUp() or WarmUpHere() has returned OK.
  const std::string& warning() const { return warning_; }

  // What became of the lane's records (record_runs.h); empty where it made none. REQUIRES: as
  // above.
  const std::string& records() const { return records_; }

  // Serves until the process ends, after WarmUpHere() returned OK. REQUIRES: the calling thread is
  // the lane's thread. A front end that breaks the ring's rules ends the process.
  [[noreturn]] void RunHere();

 private:
  absl::Status RecordRuns();
  void Main(WarmUp warmup, absl::Span<const WarmUpSample> samples);
  void Idle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  void Sleep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  void ServeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  MemoryPressure Pressure() const;
  void Complete(uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);

  const uint32_t index_;
  const Attachment* const attachment_;
  Model* const model_;
  const Clock* const clock_;
  LaneReport* const report_;  // its words are written by the lane's thread alone

  absl::Notification warmed_up_;
  absl::Status warmup_status_;  // written before warmed_up_ is notified, as is the next one
  std::string warning_;
  std::string records_;

  ThreadRole lane_thread_;
  RingConsumer submitted_ ABSL_GUARDED_BY(lane_thread_);
  RingProducer completed_ ABSL_GUARDED_BY(lane_thread_);
  uint32_t completed_count_ ABSL_GUARDED_BY(lane_thread_) = 0;
  LaneSleep sleep_ ABSL_GUARDED_BY(lane_thread_);
  FrontBell front_bell_ ABSL_GUARDED_BY(lane_thread_);
  BatchReader reader_ ABSL_GUARDED_BY(lane_thread_);
  BatchExecutor executor_ ABSL_GUARDED_BY(lane_thread_);
  LaneUpkeep upkeep_ ABSL_GUARDED_BY(lane_thread_);
  Batch batch_ ABSL_GUARDED_BY(lane_thread_);  // its memory is used again from batch to batch

  std::thread thread_;
};

}  // namespace mpsd
