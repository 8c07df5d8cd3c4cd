// Pool: the queue of one model and the lanes that serve it, behind one mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "proto/base/clock.h"
#include "server/dispatch/pool_carrier.h"
#include "server/dispatch/pool_keeper.h"
#include "server/dispatch/pool_memory.h"
#include "server/dispatch/pool_parts.h"
#include "server/dispatch/pool_workers.h"
#include "server/request/completed_batch.h"
#include "server/request/request.h"
#include "server/request/served_model.h"
#include "server/schedule/scheduler.h"

namespace mpsd {

// Steps 4 to 11 of a request's life. Owned by its model, which each request holds: so the pool
// outlives the calls' last Cancel(). Thread-safe: any thread calls any method.
//
// A pool has three faces, by who calls it:
//   Pool itself     accept/ and admit/ (RequestQueue), and the threads that look for completions
//   memory()        the supervisor, which gives it segments for rows and takes them back
//   workers()       the supervisor, whose workers come and go
// What all three work on, and the invariants, stand in PoolParts. Each method finds out under the
// mutex what is to be done, and PoolCarrier does it after.
//
// A pool never starts or ends a worker, copies a payload under its mutex, or knows how a reply is
// written: it meets the rest of the house as PoolKeeper, RowFiller and CompletionSink.
class Pool final : public RequestQueue {
 public:
  // `scheduler` decides which batch is next; without one it is an EagerScheduler with these
  // options. All pointers outlive the pool.
  Pool(ServedModel* model, const PoolOptions& options, const Clock* clock, CompletionSink* replies,
       PoolKeeper* keeper, std::unique_ptr<const Scheduler> scheduler = nullptr);

  // REQUIRES: no request is inside, no batch runs.
  ~Pool() override;

  PoolMemory* memory() { return &memory_; }
  PoolWorkers* workers() { return &workers_; }

  // ---- accept/ and admit/: see RequestQueue ----
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

  // ---- time, and the end ----

  // Ends requests whose deadline has passed, wherever they are, and dispatches what is due. Called
  // every few milliseconds.
  void Tick();

  // Ends all requests as UNAVAILABLE with this text; those whose answer is on its way end after it.
  void FailAll(const char* text);

  // Requests inside: queued, running, or answered in part.
  int64_t inside() const { return parts_.inside.get(); }

  // True while a lane has a batch, even if its requests have ended.
  bool busy() const {
    return parts_.model->metrics.running_batches.load(std::memory_order_relaxed) > 0;
  }

  // PoolParts::CheckInvariants(). Slow: for tests.
  void CheckInvariants() const { parts_.CheckInvariants(); }

 private:
  absl::Status Admit(Request* request, uint64_t bytes, RowTargets* targets, int64_t* tick_by_ns)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.mu);

  // Ends all requests with a deadline that is not after `until_ns`, those that are answered in part
  // once the answer is taken.
  void EndExpired(int64_t until_ns, absl::StatusCode code, const char* text, DeferredWork* work)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(parts_.mu);

  PoolParts parts_;
  PoolCarrier carrier_;
  PoolMemory memory_;
  PoolWorkers workers_;
};

}  // namespace mpsd
