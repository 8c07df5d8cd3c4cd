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

// Takes a request from its rows to its batch, and the batch from its lane to the reply: steps 4 to
// 7 and 11 of a request's life (see ARCHITECTURE.md). The ServedModel owns the pool, and each
// request holds its model, so the pool still exists at the last Cancel(). Thread-safe: any thread
// calls any method.
//
// A pool has three faces, by who calls it:
//   Pool itself     exchange/ and admit/ (RowQueue), and the threads that look for completions
//   memory()        the supervisor, which gives it segments for rows and takes them back
//   workers()       the supervisor, whose workers come and go
// PoolParts has the state that all three use, and the invariants. Each method finds out under the
// mutex what must be done, and PoolCarrier does it after.
//
// A pool never starts or ends a worker, copies a payload under its mutex, or knows how a reply is
// written. It calls the rest of the daemon only through the interfaces PoolKeeper, RowFiller (a
// request's), CompletionSink and PoolWatcher.
//
// To end a pool: Close(), so that nothing new comes; FailAll(), if nobody may wait for what is
// inside. Once inside() is 0 and busy() is false, it may be destroyed.
class Pool final : public RowQueue {
 public:
  // All pointers outlive the pool.
  Pool(ServedModel* model, const PoolOptions& options, const Clock* clock, CompletionSink* replies,
       PoolKeeper* keeper);

  // REQUIRES: no request is inside, no batch runs.
  ~Pool() override;

  // Tells the watcher of lanes and time from now on. It outlives the pool. REQUIRES: called at most
  // once, before another thread knows the pool.
  void Watch(PoolWatcher* watcher);

  PoolMemory* memory() { return memory_.get(); }
  PoolWorkers* workers() { return workers_.get(); }

  // ---- exchange/ and admit/: RowQueue (server/request) has the contracts ---- The order is
  // Reserve() → the caller fills the rows → Commit(). Continue() comes between a decoupled model's
  // answers, Cancel() at any time. Each may end the request before it returns.
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

  // Takes completions, dispatches, and gives the replies. Returns the number of completed batches.
  // `after_timeout`: no bell woke the caller, which slept too long. Then each completion announced
  // before NoteAnnounced() is a lost wake-up, counted by mpsd_timeout_wakeups_total: a bug on
  // either side.
  size_t Drain(bool after_timeout = false);

  // Remembers each lane's announcements so far, for the next Drain(true). The last thread to go to
  // sleep calls it when its sleep has timed out. So a completion that comes after the look does not
  // count as a lost wake-up. REQUIRES: SetParked(true) is in force.
  void NoteAnnounced();

  // True: the caller is about to sleep, so workers ring the bell for each completion. False: a
  // thread is awake and looks itself. Plane calls it, and counts the threads.
  void SetParked(bool parked);

  // Tells the workers whether their lanes may look for work a little before they sleep.
  void SetCoresAreLeft(bool cores_are_left);

  // ---- time, and the end ----

  // Ends requests past their deadline, wherever they are, and dispatches what is due. Called every
  // few milliseconds.
  void Tick();

  // Ends all requests as UNAVAILABLE with this text. A request with an answer on its way ends when
  // that is taken. New requests may still come: see Close().
  void FailAll(const char* text);

  // Requests inside: from Reserve() until their ending is decided.
  int64_t inside() const;

  // Whether a lane has a batch, even if all its requests have ended.
  bool busy() const;

  // PoolParts::CheckInvariants(). Slow: for tests.
  void CheckInvariants() const;

 private:
  const std::unique_ptr<PoolParts> parts_;
  const std::unique_ptr<PoolCarrier> carrier_;
  const std::unique_ptr<PoolMemory> memory_;
  const std::unique_ptr<PoolWorkers> workers_;
};

}  // namespace mpsd
