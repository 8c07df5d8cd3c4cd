// Pool: the queue of one model and the lanes that serve it, behind one mutex.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/dispatch/answering_list.h"
#include "server/dispatch/completion_intake.h"
#include "server/dispatch/deferred_work.h"
#include "server/dispatch/dispatcher.h"
#include "server/dispatch/inflight_table.h"
#include "server/dispatch/link_gauges.h"
#include "server/dispatch/output_estimate.h"
#include "server/dispatch/pool_keeper.h"
#include "server/dispatch/pool_queue.h"
#include "server/dispatch/quarantine.h"
#include "server/dispatch/worker_end.h"
#include "server/dispatch/worker_link.h"
#include "server/dispatch/worker_loss.h"
#include "server/dispatch/worker_progress.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"
#include "server/request/served_model.h"
#include "server/schedule/scheduler.h"

namespace mpsd {

struct PoolOptions {
  uint32_t lane_depth = 1;  // batches a lane has at most: 1 on a cpu, 2 on a gpu
  int64_t max_delay_ns = 0;
  uint32_t queue_requests = kDefaultQueueRequests;
  uint64_t queue_bytes = kDefaultQueueBytes;
};

// Steps 4 to 11 of a request's life. Owned by its model, which each request holds: so the pool
// outlives the calls' last Cancel(). Thread-safe: any thread calls any method. One mutex guards all
// parts; it is never held across a payload copy, a system call on the request's path, or a reply.
// Each method finds out under the mutex what is to be done, and does it after. A pool never starts
// or ends a worker.
//
// The parts: PoolQueue has what waits, InflightTable what the lanes have, AnsweringList what waits
// for its client. Dispatcher moves requests from the first to the second, as the Scheduler decides;
// CompletionIntake and WorkerLoss move them out of it.
//
// Invariants, which CheckInvariants() holds it to:
//  1. A request that is inside is in exactly one part: queue, table or list.
//  2. A request ends exactly once, through DeferredWork, and is not inside from then on.
//  3. The live rows of the slabs are those of the requests inside, of batches that still run though
//     their requests have ended, and of a struck request.
//  4. What a living worker may still read or write is never freed: see slot_state.h.
class Pool final : public RequestQueue {
 public:
  // `scheduler` decides which batch is next; without one it is an EagerScheduler with these
  // options. All pointers outlive the pool.
  Pool(ServedModel* model, const PoolOptions& options, const Clock* clock, CompletionSink* replies,
       PoolKeeper* keeper, std::unique_ptr<const Scheduler> scheduler = nullptr);

  // REQUIRES: no request is inside, no batch runs.
  ~Pool() override;

  // ---- accept/ and admit/ ----
  absl::Status Reserve(Request* request, RowTargets* targets) override;
  void Commit(Request* request) override;
  void Continue(Request* request) override;
  void Cancel(Request* request) override;
  void Close() override;

  // ---- the threads that wait for completions ----

  // Takes what has completed, dispatches, and gives the replies. Returns how many batches
  // completed. With `after_timeout` it also counts completions that the caller's bell should have
  // told: those that their lanes had announced when NoteAnnounced() was called, although the bell
  // does not ring.
  size_t Drain(bool after_timeout = false);

  // REQUIRES: SetParked(true) was called before, and SetParked(false) is not called meanwhile.
  void NoteAnnounced();

  // Workers ring the bell for each completion, or leave it alone.
  void SetParked(bool parked);

  // ---- supervise/ ----

  // Gives the pool memory for rows. Number 0 is the first segment, and stays. REQUIRES: the model's
  // spec is complete, and every worker that is attached has mapped the segment.
  void AddSlabSegment(OwnedSegment segment, uint32_t number = 0);

  // The growth request: the bytes of a further segment, since rows found no room. Nothing when none
  // is needed. The caller answers with AddSlabSegment() or RefuseSlabs().
  std::optional<uint64_t> TakeGrowthRequest();

  // There is no more memory for now: requests that wait for it are refused.
  void RefuseSlabs();

  // Retires a segment that has held nothing for `idle_calls` calls of this: it takes no rows any
  // more. Returns its number.
  std::optional<uint32_t> RetireIdleSegment(uint32_t idle_calls);

  // Gives a retired segment back. REQUIRES: no worker has it mapped.
  OwnedSegment RemoveSlabSegment(uint32_t number);

  // The worker serves from now on. REQUIRES: none of the same number is attached.
  void Attach(std::shared_ptr<WorkerLink> link);

  // The worker gets no batch any more; it finishes those that it has.
  void Quiesce(uint32_t worker);

  // What a worker has done; empty when it is not attached.
  WorkerProgress Progress(uint32_t worker) const;

  // While no worker is attached, none will serve before `when_ns`: requests whose deadline is not
  // after that are refused, and those that wait end. INT64_MIN: a worker may come at any moment.
  void ExpectWorkerAt(int64_t when_ns);

  // The requests of a worker go again, or end. True when its death was put down to one request.
  // REQUIRES: the worker is confirmed dead.
  bool Detach(uint32_t worker, WorkerEnd end);

  // Ends requests whose deadline has passed, wherever they are, and dispatches what is due. Called
  // every few milliseconds.
  void Tick();

  // Ends all requests as UNAVAILABLE with this text; those whose answer is on its way end after it.
  void FailAll(const char* text);

  // Requests inside: queued, running, or answered in part.
  int64_t inside() const { return inside_.get(); }

  // True while a lane has a batch, even if its requests have ended.
  bool busy() const { return model_->metrics.running_batches.load(std::memory_order_relaxed) > 0; }

  // Bytes of all slab segments.
  uint64_t SlabBytes() const;

  // The slab segments as a worker is told of them, in the order of their numbers.
  std::vector<SlabSegment> SlabDescriptors() const;
  WorkerLink::Options LinkOptions(uint32_t worker, uint32_t epoch, uint32_t lanes) const;

  // CHECKs the invariants of the pool and of its parts. Slow: for tests.
  void CheckInvariants() const;

 private:
  absl::Status Admit(Request* request, uint64_t bytes, RowTargets* targets, int64_t* tick_by_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status NoWorkerInTime() const;

  // Ends all requests with a deadline that is not after `until_ns`, those that are answered in part
  // once the answer is taken.
  void EndExpired(int64_t until_ns, absl::StatusCode code, const char* text, DeferredWork* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteWorkers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteWakeups(WorkerLink* link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // True when the request holds what has crashed a worker. REQUIRES: its rows are filled, and no
  // other thread knows of it, so that they may be read without the mutex.
  bool IsQuarantined(const Request& request) ABSL_LOCKS_EXCLUDED(mu_);
  void RememberStruck(DeferredWork* work) ABSL_LOCKS_EXCLUDED(mu_);

  // Does what was deferred: wakes lanes, gives replies, takes the batches' memory back, and fills
  // the rows of requests that have waited for them.
  void Carry(DeferredWork* work) ABSL_LOCKS_EXCLUDED(mu_);
  void Recycle(DeferredWork* work) ABSL_LOCKS_EXCLUDED(mu_);

  // Constant after construction.
  ServedModel* const model_;
  const PoolOptions options_;
  const Clock* const clock_;
  CompletionSink* const replies_;
  PoolKeeper* const keeper_;
  const std::unique_ptr<const Scheduler> scheduler_;

  // Thread-safe.
  InsideCount inside_;
  Quarantine quarantine_;

  mutable absl::Mutex mu_;
  PoolQueue queue_ ABSL_GUARDED_BY(mu_);
  InflightTable inflight_ ABSL_GUARDED_BY(mu_);
  AnsweringList answering_ ABSL_GUARDED_BY(mu_);
  OutputEstimate estimate_ ABSL_GUARDED_BY(mu_);
  Dispatcher dispatcher_ ABSL_GUARDED_BY(mu_);
  CompletionIntake intake_ ABSL_GUARDED_BY(mu_);
  WorkerLoss loss_ ABSL_GUARDED_BY(mu_);
  LinkGauges link_gauges_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t worker_expected_ns_ ABSL_GUARDED_BY(mu_) = INT64_MIN;  // while no worker is attached
  std::vector<Request*> taken_ ABSL_GUARDED_BY(mu_);             // scratch
};

}  // namespace mpsd
