// ChildRun: one request that children do the work of.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/compose/child_request.h"
#include "server/compose/run_table.h"
#include "server/request/reply.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Gives the request its one ending. The subclass makes the children and the answer:
//
//   NoteBegun, once a child ─▶ ChildAnswered ─▶ Close ─▶ … ─▶ Give ─▶ Send
//                           └▶ ChildFailed ─▶ the others are cancelled ─▶ … ─▶ Fail
//
// Invariants:
//   1. The request ends exactly once. It fails when no child is open: then nobody reads its
//      payloads.
//   2. After the first fault, or a cancellation, no child begins.
//   3. No function of a queue or of a reply is called under the mutex.
//
// Owned by its queue's table until it ends, and by each thread inside. Thread-safe.
class ChildRun : public ChildOwner, public std::enable_shared_from_this<ChildRun> {
 public:
  virtual ~ChildRun() = default;
  ChildRun(const ChildRun&) = delete;
  ChildRun& operator=(const ChildRun&) = delete;

  // The request ends with this status after its open children, unless it has ended or another fault
  // came first. REQUIRES: the caller holds the run.
  void Cancel(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

 protected:
  // The subclass calls CloseBeginning() once, before which nothing ends. The table lives as long as
  // the request's model.
  ChildRun(Request* whole, RunTable* table);

  void ChildFailed(ChildRequest* child, const absl::Status& status) override {
    Close(child, status);
  }

  // Gives the answer by Send(). Called once, if all children were answered.
  virtual void Give() = 0;

  // False if no child may begin any more.
  bool NoteBegun(ChildRequest* child) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // An error becomes the request's fault, unless it has one.
  void Close(ChildRequest* child, const absl::Status& status) ABSL_LOCKS_EXCLUDED(mu_);

  // The children that begin at once have begun.
  void CloseBeginning() ABSL_LOCKS_EXCLUDED(mu_) { Close(nullptr, absl::OkStatus()); }

  // False if the request has a fault or its ending already.
  bool SetFault(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  void Send(const Answer& answer);

  // Constant.
  Request* const whole_;
  const std::shared_ptr<ServedModel> model_;  // the request's own goes with its reply

  mutable absl::Mutex mu_;
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;  // the ending is given, or about to be

 private:
  RunTable* const table_;
  bool is_beginning_ ABSL_GUARDED_BY(mu_) = true;
  std::vector<ChildRequest*> open_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
