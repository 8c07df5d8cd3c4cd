// PartedRun: one request that runs in parts, from its admission to its ending.
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

// Cuts the request's rows into parts of a batch each, has the pool run them as any requests, and
// joins their answers in the order of the rows:
//
//   Reserve ─▶ (registered by the keeper) ─▶ Start ─▶ PartAnswered, once a part ─▶ Send
//                                                  └▶ PartFailed ─▶ others are cancelled ─▶ Fail
//
// Whatever happens to a part happens in the pool: another client's rows in its batch, a worker that
// dies under it, its deadline. So the run needs no thread and no timer.
//
// Invariants:
//   1. The request ends exactly once, and when no part is open: nobody reads its payloads then.
//   2. After the first fault, or a cancellation, no part begins to be reserved.
//   3. No function of the pool or of a reply is called under the mutex.
//
// Owned by its queue's table until it ends, and by each thread that is inside. Thread-safe.
class PartedRun final : private PartOwner, public std::enable_shared_from_this<PartedRun> {
 public:
  // The run has the request from Start() until it ends. The referents outlive the run; the keeper
  // and the pool live as long as the request's model. REQUIRES: the request is checked and
  // padded: only its place in a queue is missing.
  PartedRun(Request* whole, RequestQueue* pool, RunKeeper* keeper, ByteAllowance* answers);

  // Reserves the parts. An error is the first part's, and nothing is inside then: the caller still
  // owes the reply. A later part's error becomes the request's ending. Called once.
  absl::Status Reserve() ABSL_LOCKS_EXCLUDED(mu_);

  // Fills the parts. The request may have ended when this returns. REQUIRES: Reserve() was OK, and
  // the caller holds the run. Called once.
  void Start() ABSL_LOCKS_EXCLUDED(mu_);

  // The request ends with this status, once its parts have ended; unless it has ended, or ends with
  // another fault. REQUIRES: the caller holds the run.
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
  // One of those that `open_` counts ends. An error becomes the request's fault, unless it has one.
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
  size_t reserved_ ABSL_GUARDED_BY(mu_) = 0;  // the first so many parts
  size_t open_ ABSL_GUARDED_BY(mu_) = 1;      // parts, and Start() or Cancel(); 0: it has ended
  absl::Status fault_ ABSL_GUARDED_BY(mu_);

  // Written under the mutex, then read by the thread that ends the request.
  JoinRoom room_;
  std::vector<JoinedOutput> outputs_;  // those that are wanted, in their order
  StageTimes times_;                   // from the first part's batch to the last part's end
  StageSums sums_;                     // of each stage the longest, since parts run side by side
};

}  // namespace mpsd
