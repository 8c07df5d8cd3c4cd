// PartedRun: one request in parts, from its admission to its ending.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/parts/join_room.h"
#include "server/parts/joined_output.h"
#include "server/parts/request_part.h"
#include "server/request/byte_allowance.h"
#include "server/request/request.h"
#include "server/request/run_keeper.h"
#include "server/request/served_model.h"

namespace mpsd {

// Cuts the request's rows into parts of a batch each, has the pool run them as requests, and joins
// their answers in the order of the rows:
//
//   Reserve ─▶ (registered by the keeper) ─▶ Start ─▶ PartAnswered, once a part ─▶ Send
//                                                  └▶ PartFailed ─▶ others are cancelled ─▶ Fail
//
// The pool handles whatever happens to a part: another client's rows in its batch, a worker's
// death, its deadline. So the run needs no thread and no timer.
//
// Invariants:
//   1. The request ends exactly once, when no part is open: then nobody reads its payloads.
//   2. After the first fault, or a cancellation, no further part is reserved.
//   3. No function of the pool or of a reply is called under the mutex.
//
// Owned by its queue's table until it ends, and by each thread inside. Thread-safe.
class PartedRun final : private PartOwner, public std::enable_shared_from_this<PartedRun> {
 public:
  // The run has the request from Start() until it ends. The referents outlive the run; the keeper
  // and the pool live as long as the request's model. REQUIRES: the request is checked and padded,
  // and only lacks a place in a queue.
  PartedRun(Request* whole, RequestQueue* pool, RunKeeper* keeper, ByteAllowance* answers);

  // Reserves the parts. An error is the first part's: then nothing is inside, and the caller still
  // owes the reply. A later part's error becomes the request's ending. Called once.
  absl::Status Reserve() ABSL_LOCKS_EXCLUDED(mu_);

  // Fills the parts. The request may have ended when this returns. REQUIRES: Reserve() was OK, and
  // the caller holds the run. Called once.
  void Start() ABSL_LOCKS_EXCLUDED(mu_);

  // The request ends with this status once its parts have ended, unless it has ended or another
  // fault came first. REQUIRES: the caller holds the run.
  void Cancel(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // PartOwner.
  void PartAnswered(const RequestPart& part, const Answer& answer) override
      ABSL_LOCKS_EXCLUDED(mu_);
  void PartFailed(const absl::Status& status) override ABSL_LOCKS_EXCLUDED(mu_);

  void Cut();
  bool MayReserve() ABSL_LOCKS_EXCLUDED(mu_);
  void NoteReserved() ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Join(const RequestPart& part, const Answer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteTimes(const Request& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CancelParts() ABSL_LOCKS_EXCLUDED(mu_);
  // One of those counted by `open_` ends. An error becomes the request's fault, unless it has one.
  void Close(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void End(const absl::Status& fault);
  Answer Joined();

  // Constant.
  Request* const whole_;
  RequestQueue* const pool_;
  RunKeeper* const keeper_;
  const std::shared_ptr<ServedModel> model_;  // the request's own goes with its reply
  std::vector<std::unique_ptr<RequestPart>> parts_;

  absl::Mutex mu_;
  size_t reserved_ ABSL_GUARDED_BY(mu_) = 0;  // number of reserved parts, from the first
  size_t open_ ABSL_GUARDED_BY(mu_) = 1;      // open parts, plus Start() or Cancel(); 0: ended
  absl::Status fault_ ABSL_GUARDED_BY(mu_);

  // Written under the mutex, then read by the thread that ends the request.
  JoinRoom room_;
  std::vector<JoinedOutput> outputs_;  // the wanted outputs, in their order
  StageTimes times_;                   // from the first part's batch to the last part's end
  StageSums sums_;                     // longest time of each stage, since parts run side by side
};

}  // namespace mpsd
