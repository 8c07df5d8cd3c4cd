// PartedRun: one request in parts.
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

// Cuts the rows into parts of a batch each, and joins their answers in the order of the rows:
//
//   Reserve ─▶ (entered into the table) ─▶ Start ─▶ ChildAnswered, once a part ─▶ Give
//
// Owned as a ChildRun. Thread-safe.
class PartedRun final : public ChildRun {
 public:
  // The run has the request from Start() on. The table and the pool live as long as the request's
  // model. REQUIRES: the request is checked and padded.
  PartedRun(Request* whole, RowQueue* pool, RunTable* table, ByteAllowance* answers);

  // An error is the first part's: the caller still owes the reply. A later part's error becomes the
  // request's ending. Called once.
  absl::Status Reserve() ABSL_LOCKS_EXCLUDED(mu_);

  // The request may have ended on return. REQUIRES: Reserve() was OK, and the caller holds the run.
  // Called once.
  void Start();

 private:
  void ChildAnswered(ChildRequest* child, const Answer& answer) override ABSL_LOCKS_EXCLUDED(mu_);
  void Give() override;

  void Cut();
  bool MayReserve(RequestPart* part) ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Join(const RequestPart& part, const Answer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void NoteTimes(const Request& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  RowQueue* const pool_;
  std::vector<std::unique_ptr<RequestPart>> parts_;
  size_t reserved_ = 0;  // parts in the pool, from the first

  // Written under the mutex, then read by the thread that ends the request.
  JoinRoom room_;
  std::vector<JoinedOutput> outputs_;  // in the order of the wanted outputs
  StageTimes times_;                   // from the first part's batch to the last part's end
  StageSums sums_;                     // longest of each stage, since parts run side by side
};

}  // namespace mpsd
