// PartedRun: one request in parts, from its admission to its ending.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "server/compose/child_run.h"
#include "server/compose/parts/joined_output.h"
#include "server/compose/parts/request_part.h"
#include "server/request/byte_allowance.h"
#include "server/request/request.h"

namespace mpsd {

// Cuts the request's rows into parts of a batch each, has the pool run them as requests, and joins
// their answers in the order of the rows:
//
//   Reserve ─▶ (entered into the table) ─▶ Start ─▶ ChildAnswered, once a part ─▶ Give
//
// The pool handles whatever happens to a part: another client's rows in its batch, a worker's
// death, its deadline. Owned as a ChildRun. Thread-safe.
class PartedRun final : public ChildRun {
 public:
  // The run has the request from Start() until it ends. The referents outlive the run; the table
  // and the pool live as long as the request's model. REQUIRES: the request is checked and padded,
  // and only lacks a place in a queue.
  PartedRun(Request* whole, RowQueue* pool, RunTable* table, ByteAllowance* answers);

  // Reserves the parts. An error is the first part's: then nothing is inside, and the caller still
  // owes the reply. A later part's error becomes the request's ending. Called once.
  absl::Status Reserve() ABSL_LOCKS_EXCLUDED(mu_);

  // Fills the parts. The request may have ended when this returns. REQUIRES: Reserve() was OK, and
  // the caller holds the run. Called once.
  void Start();

 private:
  // ChildRun.
  void ChildAnswered(ChildRequest* child, const Answer& answer) override ABSL_LOCKS_EXCLUDED(mu_);
  void Give() override;

  void Cut();
  bool MayReserve(RequestPart* part) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Join(const RequestPart& part, const Answer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteTimes(const Request& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  RowQueue* const pool_;
  std::vector<std::unique_ptr<RequestPart>> parts_;  // constant
  size_t reserved_ = 0;  // parts in the pool, from the first; of the thread that admits

  // Written under the mutex, then read by the thread that ends the request.
  JoinRoom room_;
  std::vector<JoinedOutput> outputs_;  // the wanted outputs, in their order
  StageTimes times_;                   // from the first part's batch to the last part's end
  StageSums sums_;                     // longest time of each stage, since parts run side by side
};

}  // namespace mpsd
