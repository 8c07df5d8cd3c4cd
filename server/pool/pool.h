// Pool: one model's queue and the lanes that serve it, behind one mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/pool/pool_facts.h"
#include "server/request/request.h"

namespace mpsd {

class CompletionSink;
class PoolCarrier;
class PoolMemory;
class PoolWatcher;
class PoolWorkers;
struct PoolParts;

// Steps 4 to 7 and 11 of a request. The ServedModel owns the pool, and each request holds its
// model, so the pool exists at the last Cancel(). Thread-safe. Its three faces:
//
//   Pool itself     exchange/ and admit/ (RowQueue), and the threads that look for completions
//   memory()        the supervisor, which gives it segments for rows and takes them back
//   workers()       the supervisor, whose workers come and go
//
// PoolParts has their state and the invariants. Each method finds out under the mutex what must be
// done, and PoolCarrier does it after.
//
// The end: Close(), so that nothing new comes; FailAll(), if nobody may wait for what is inside.
// Once inside() is 0 and busy() is false, the pool may be destroyed.
class Pool final : public RowQueue {
 public:
  // All pointers outlive the pool.
  Pool(ServedModel* model, const PoolOptions& options, const Clock* clock, CompletionSink* replies,
       PoolKeeper* keeper);

  // REQUIRES: no request is inside, no batch runs.
  ~Pool() override;

  // The watcher outlives the pool. REQUIRES: called at most once, before another thread knows the
  // pool.
  void Watch(PoolWatcher* watcher);

  PoolMemory* memory() { return memory_.get(); }
  PoolWorkers* workers() { return workers_.get(); }

  // ---- exchange/ and admit/: RowQueue (server/request) has the contracts ---- Each call may end
  // the request before it returns.
  absl::Status Reserve(Request* request, RowTargets* targets) override;
  // A request that finds the queue full behind others gets ABORTED: their batches may make room.
  void ReserveAll(absl::Span<EnteringRequest> requests) override;
  void Commit(Request* request) override { CommitAll({&request, 1}); }
  void CommitAll(absl::Span<Request* const> requests) override;
  void Continue(Request* request) override;
  void Cancel(Request* request) override;
  void Close() override;
  std::vector<RefusedContent> RefusedContents() override;
  size_t ForgiveContents() override;

  // ---- the threads that wait for completions ----

  // Returns the number of completed batches. `after_timeout`: no bell woke the caller. Then each
  // completion announced before NoteAnnounced() is a lost wake-up, which mpsd_timeout_wakeups_total
  // counts: a bug on either side.
  size_t Drain(bool after_timeout = false);

  // Remembers each lane's announcements, for the next Drain(true). The last thread to fall asleep
  // calls it after a time-out. REQUIRES: SetParked(true) is in force.
  void NoteAnnounced();

  // True: all threads sleep, so workers ring for each completion.
  void SetParked(bool parked);

  // Whether the workers' lanes may look for work a little before they sleep.
  void SetCoresAreLeft(bool cores_are_left);

  // ---- time, and the end ----

  // Called every few milliseconds.
  void Tick();

  // Ends all requests as UNAVAILABLE; one with an answer on its way ends once that is taken. New
  // requests may still come: see Close().
  void FailAll(const char* text);

  // Requests from Reserve() until their ending is decided.
  int64_t inside() const;

  // Whether a lane has a batch, even if all its requests have ended.
  bool busy() const;

  // Slow: for tests.
  void CheckInvariants() const;

 private:
  const std::unique_ptr<PoolParts> parts_;
  const std::unique_ptr<PoolCarrier> carrier_;
  const std::unique_ptr<PoolMemory> memory_;
  const std::unique_ptr<PoolWorkers> workers_;
};

}  // namespace mpsd
