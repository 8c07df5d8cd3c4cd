// Pool: the queue of one model and the lanes that serve it. Here requests become batches, batches
// go to lanes, and what comes back goes to its replies.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/batch/batcher.h"
#include "server/dispatch/output_estimate.h"
#include "server/dispatch/quarantine.h"
#include "server/dispatch/worker_end.h"
#include "server/dispatch/worker_link.h"
#include "server/dispatch/worker_progress.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"
#include "server/request/served_model.h"
#include "server/telemetry/gauge_share.h"

namespace mpsd {

// What a pool asks of its supervisor. Implemented by supervise/. Thread-safe.
class PoolKeeper {
 public:
  virtual ~PoolKeeper() = default;

  // This incarnation of the worker was caught lying: kill it. Called with a pool's mutex held: it
  // may only take note.
  virtual void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
                       const std::string& reason) = 0;

  // Call Tick() at this time at the latest.
  virtual void WakeBy(int64_t when_ns) = 0;
};

struct PoolOptions {
  uint32_t lane_depth = 1;  // batches a lane has at most: 1 on a cpu, 2 on a gpu
  int64_t max_delay_ns = 0;
  uint32_t queue_requests = kDefaultQueueRequests;
  uint64_t queue_bytes = kDefaultQueueBytes;
};

// Thread-safe: everything is behind one mutex, which is never held across a payload copy, a system
// call on the request's path or a reply. Owned by its model, which each request holds: so it
// outlives the calls' last Cancel().
// Never starts or ends a worker.
class Pool final : public RequestQueue {
 public:
  Pool(ServedModel* model, const PoolOptions& options, const Clock* clock, CompletionSink* replies,
       PoolKeeper* keeper);
  ~Pool() override;

  // ---- accept/ and admit/ ----
  absl::Status Reserve(Request* request, RowTargets* targets) override;
  void Commit(Request* request) override;
  void Continue(Request* request) override;
  void Cancel(Request* request) override;
  void Close() override;

  // ---- the threads that wait for completions ----

  // Takes what has completed, dispatches anew, gives the replies. Returns how many batches it took.
  // After a time-out those that the bell missed are counted: their lanes had done all to tell of
  // them when NoteAnnounced() was called, and yet it does not ring.
  size_t Drain(bool after_timeout = false);

  // REQUIRES: workers have to ring since before and for as long as this takes.
  void NoteAnnounced();

  // Workers ring the bell for each completion, or leave it alone.
  void SetParked(bool parked);

  // ---- supervise/ ----

  // Gives the pool memory for its rows. The model's spec is complete by now, and every worker that
  // serves has mapped the segment. The first one, number 0, stays.
  void AddSlabSegment(OwnedSegment segment, uint32_t number = 0);

  // The bytes that a further segment should hold, since rows found no room; nothing when none is
  // wanted. Who takes the wish answers it with AddSlabSegment() or RefuseSlabs().
  std::optional<uint64_t> TakeGrowthRequest();

  // There is no more memory for now: who waits for it is refused.
  void RefuseSlabs();

  // A segment that has held nothing for `idle_calls` calls of this. It takes no rows from now on.
  std::optional<uint32_t> RetireIdleSegment(uint32_t idle_calls);

  // Takes a retired segment back. No worker has it mapped any more.
  OwnedSegment RemoveSlabSegment(uint32_t number);

  // The worker serves from now on.
  void Attach(std::shared_ptr<WorkerLink> link);

  // No batch goes to the worker any more; what it has goes on.
  void Quiesce(uint32_t worker);

  // What a worker that is attached has done; empty when it is not.
  WorkerProgress Progress(uint32_t worker) const;

  // While no worker is attached, none will serve before `when_ns`: what ends before is refused, and
  // need not wait. INT64_MIN: one may come at any moment.
  void ExpectWorkerAt(int64_t when_ns);

  // The worker is confirmed dead: what it had goes again, or ends. True when its death was put down
  // to one request.
  bool Detach(uint32_t worker, WorkerEnd end);

  // Ends requests whose deadline has passed, wherever they are; dispatches what has waited for
  // company long enough. Called every few milliseconds.
  void Tick();

  // Ends everything that has not ended as UNAVAILABLE with this text.
  void FailAll(const char* text);

  // Requests that are inside: queued, running, or with an answer on its way and others to come.
  int64_t inside() const { return inside_.load(std::memory_order_relaxed); }

  // True while a lane has a batch, though perhaps nobody waits for it any more.
  bool busy() const { return model_->metrics.running_batches.load(std::memory_order_relaxed) > 0; }

  // Bytes of all slab segments.
  uint64_t SlabBytes() const;

  // What a worker is to be sent of the pool's slabs, in the order of their numbers.
  std::vector<SlabSegment> SlabDescriptors() const;
  WorkerLink::Options LinkOptions(uint32_t worker, uint32_t epoch, uint32_t lanes) const;

 private:
  static constexpr int64_t kNoTick = std::numeric_limits<int64_t>::max();

  // What is found out under the mutex and done after it.
  struct Work {
    bool after_timeout = false;
    int64_t tick_by_ns = kNoTick;  // when to be looked at again
    absl::InlinedVector<std::pair<std::shared_ptr<WorkerLink>, LanePort*>, 4> wakes;
    absl::InlinedVector<std::unique_ptr<InflightBatch>, 16> completed;
    absl::InlinedVector<std::pair<Request*, absl::Status>, 4> ended;
    std::vector<std::pair<Request*, RowTargets>> fills;  // whose rows have been waited for
    Request* struck = nullptr;  // crashed its worker; its rows, at `struck_rows`, have not ended
    RowTargets struck_rows;
  };

  bool QueueIsFull(uint64_t bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status FullError() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Place(Request* request, uint64_t bytes, RowTargets* targets, int64_t* tick_by_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WishForSlabs(int64_t* tick_by_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PlaceWaiting(Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeExpiredWaiting(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t RetryDelayNs() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MeasureRate(int64_t now_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Dispatch(Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool DispatchSuspect(int64_t now_ns, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool Submit(std::unique_ptr<InflightBatch> batch, WorkerLink* link, LanePort* port,
              int64_t now_ns, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  LanePort* FreeLane(WorkerLink** link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  WorkerLink* IsolatedWorker() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PutBack(FormedBatch* formed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::unique_ptr<InflightBatch> NewBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void TakeCompletions(WorkerLink* link, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool TakeCompletion(WorkerLink* link, LanePort* port, Work* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RetryWithLargerLease(InflightBatch* batch, uint64_t needed_bytes, const WorkerLink& link,
                            Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndBatch(WorkerLink* link, LanePort* port, uint32_t place)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndEntries(InflightBatch* batch) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Condemn(WorkerLink* link, const std::string& reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // True when it put the death down to one request.
  bool DispatchAgain(InflightBatch* batch, WorkerEnd end, bool alone, Work* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Strike(Request* request, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RememberStruck(Work* work) ABSL_LOCKS_EXCLUDED(mu_);
  bool IsQuarantined(const Request& request) ABSL_LOCKS_EXCLUDED(mu_);
  void AwaitContinue(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUp(Request* request, const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void GiveUpAnswering(int64_t now_ns, absl::StatusCode code, absl::string_view text)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ExpireRunning(int64_t now_ns, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool AbandonRunning(Request* request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelIfDead(LanePort* port, uint32_t place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteQueueOf(const Request& request, int sign) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteSlabs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteWakeups(WorkerLink* link) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndQueued(Request* request, const absl::Status& status, Work* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteLinks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  WorkerLink* Find(uint32_t worker) const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  absl::Status NoWorkerInTime() const;
  static absl::Status CrashedItsWorker();
  void EndExpired(std::vector<Request*>* expired, Work* work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // Wakes lanes, gives replies, takes the batches' memory back, and fills the rows of requests that
  // have waited for them.
  void Carry(Work* work) ABSL_LOCKS_EXCLUDED(mu_);
  void Recycle(Work* work) ABSL_LOCKS_EXCLUDED(mu_);

  uint64_t OutputBytes(const FormedBatch& formed, const WorkerLink& link) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Half of the area, so that one batch does not wait for all others.
  static uint64_t LargestLeaseBytes(const WorkerLink& link) { return link.output_area_bytes() / 2; }

  // Constant after construction.
  ServedModel* const model_;
  const PoolOptions options_;
  const Clock* const clock_;
  CompletionSink* const replies_;
  PoolKeeper* const keeper_;

  std::atomic<int64_t> inside_{0};
  Quarantine quarantine_;

  mutable absl::Mutex mu_;
  GaugeShare queued_requests_gauge_ ABSL_GUARDED_BY(mu_);
  GaugeShare queued_bytes_gauge_ ABSL_GUARDED_BY(mu_);
  GaugeShare input_slabs_gauge_ ABSL_GUARDED_BY(mu_);
  GaugeShare segment_bytes_gauge_ ABSL_GUARDED_BY(mu_);
  GaugeShare output_leases_gauge_ ABSL_GUARDED_BY(mu_);
  GaugeShare pinned_bytes_gauge_ ABSL_GUARDED_BY(mu_);
  GaugeShare workers_ready_gauge_ ABSL_GUARDED_BY(mu_);
  Batcher batcher_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<WorkerLink>> links_ ABSL_GUARDED_BY(mu_);
  std::vector<std::weak_ptr<WorkerLink>> past_links_ ABSL_GUARDED_BY(mu_);  // answers lie there
  std::vector<std::unique_ptr<InflightBatch>> spare_batches_ ABSL_GUARDED_BY(mu_);
  std::vector<Request*> expired_ ABSL_GUARDED_BY(mu_);  // scratch
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t worker_expected_ns_ ABSL_GUARDED_BY(mu_) = INT64_MIN;  // while none is attached
  uint32_t queued_requests_ ABSL_GUARDED_BY(mu_) = 0;            // reserved ones included
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  RequestList waiting_ ABSL_GUARDED_BY(mu_);    // admitted, for whose rows there is no room yet
  RequestList answering_ ABSL_GUARDED_BY(mu_);  // kAnswering
  uint64_t first_slab_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t wished_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // of the largest slab without room
  bool growing_ ABSL_GUARDED_BY(mu_) = false;       // a wish was taken and not yet answered
  int64_t no_growth_until_ns_ ABSL_GUARDED_BY(mu_) = INT64_MIN;
  uint64_t ended_requests_ ABSL_GUARDED_BY(mu_) = 0;  // by an answer, since rate_since_ns_
  int64_t rate_since_ns_ ABSL_GUARDED_BY(mu_) = 0;
  double requests_per_ns_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t next_batch_ ABSL_GUARDED_BY(mu_) = 1;
  OutputEstimate output_estimate_ ABSL_GUARDED_BY(mu_);  // where the spec leaves a shape open
};

}  // namespace mpsd
