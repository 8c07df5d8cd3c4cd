// Lane: one inference thread of a worker, with its two rings and its bell.
//
//   bind, warm up ─▶ ┌─▶ nothing submitted: park until the bell rings
//                    │   a slot: copy and check its batch record, pop the slot     BatchReader
//                    │           run the batch, unless nobody waits for it         BatchExecutor
//                    │           write the completion record, push the slot
//                    └────────── ring the front end's bell, if it is parked
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
#include "proto/shm/doorbell.h"
#include "proto/shm/ring.h"
#include "worker/consume/attachment.h"
#include "worker/consume/batch_reader.h"
#include "worker/execute/batch_executor.h"
#include "worker/model/model.h"

namespace mpsd {

// One inference thread of a worker: steps 8 to 10 of a request's path. Takes the slots that the
// front end submitted, in order; copies and checks each batch record; runs the batch; writes the
// completion record of the same slot and publishes it. Waits for nothing but its bell (and, inside
// the model, the device). Decides nothing about other batches: order, retries and deadlines are the
// front end's.
//
// Owned by the worker's main, which starts the lanes one after another. Ends with the process: a
// worker is asked to exit, never to stop a lane. A batch that the front end cancelled, or that
// nobody waits for any more, completes as skipped without a run.
//
// Lives on the lane's thread: a thread of its own after Start(), or the main thread, which calls
// WarmUpHere() and RunHere() instead. Only Start() and WarmedUp() belong to the main thread.
//
// Invariants:
//   1. Each submitted slot is completed exactly once, in the order of submission, unless the
//      process ends first.
//   2. A record's slot is popped from the submit ring before the batch runs, so that the front end
//      may submit the next one meanwhile; the record is copied before that.
//   3. The completion record is written whole before its slot is pushed.
class Lane {
 public:
  // `attachment`, `model` and `clock` outlive the lane.
  Lane(uint32_t index, const Attachment* attachment, Model* model, const Clock* clock);

  // Starts the lane's thread, which binds itself to the model's stream, warms up, then serves.
  // Called once, and not where WarmUpHere() is used.
  void Start(WarmUp warmup);

  // Blocks until the started lane serves; otherwise returns the reason why it cannot. After an
  // error the lane's thread has ended.
  absl::Status WarmedUp();

  // Makes the calling thread the lane's thread and warms the lane up. REQUIRES: called once.
  absl::Status WarmUpHere(WarmUp warmup);

  // Serves until the process ends, after WarmUpHere() returned OK. REQUIRES: the calling thread is
  // the lane's thread. A front end that breaks the ring's rules ends the process.
  [[noreturn]] void RunHere();

 private:
  void Main(WarmUp warmup);
  void Sleep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  void ServeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);
  void Complete(uint32_t slot) ABSL_EXCLUSIVE_LOCKS_REQUIRED(lane_thread_);

  const uint32_t index_;
  const Attachment* const attachment_;
  Model* const model_;
  const Clock* const clock_;
  LaneReport* const report_;  // its words are written by the lane's thread alone

  absl::Notification warmed_up_;
  absl::Status warmup_status_;  // written before warmed_up_ is notified

  ThreadRole lane_thread_;
  RingConsumer submitted_ ABSL_GUARDED_BY(lane_thread_);
  RingProducer completed_ ABSL_GUARDED_BY(lane_thread_);
  uint32_t completed_count_ ABSL_GUARDED_BY(lane_thread_) = 0;
  LaneSleep sleep_ ABSL_GUARDED_BY(lane_thread_);
  FrontBell front_bell_ ABSL_GUARDED_BY(lane_thread_);
  BatchReader reader_ ABSL_GUARDED_BY(lane_thread_);
  BatchExecutor executor_ ABSL_GUARDED_BY(lane_thread_);
  Batch batch_ ABSL_GUARDED_BY(lane_thread_);  // its memory is used again from batch to batch

  std::thread thread_;
};

}  // namespace mpsd
