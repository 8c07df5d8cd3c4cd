// ChildRequest: a request that the server makes to answer another one.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "server/request/reply.h"
#include "server/request/request.h"

namespace mpsd {

class ChildRequest;

// Thread-safe.
class ChildOwner {
 public:
  // The answer is valid until ChildAnswered() returns. The child may be gone by then, unless the
  // caller holds its owner.
  virtual void ChildAnswered(ChildRequest* child, const Answer& answer) = 0;
  virtual void ChildFailed(ChildRequest* child, const absl::Status& status) = 0;

 protected:
  ~ChildOwner() = default;
};

// A part, a step or a turn. Enters one queue, and ends once:
//
//   Reserve ─▶ Fill ─▶ ChildAnswered, or ChildFailed
//
// One thread reserves and fills. The ending may come on any thread, from Reserve() on. Owned by its
// owner's table or run. Thread-compatible, except for Cancel(), which is thread-safe.
class ChildRequest : public ReplySink {
 public:
  explicit ChildRequest(ChildOwner* owner, uint32_t number = 0) : owner_(owner), number_(number) {}

  // The queue outlives the ending. After an error the owner hears of no ending. Called once.
  absl::Status Reserve(RequestQueue* queue) ABSL_LOCKS_EXCLUDED(mu_);

  // The queue may commit the request itself. REQUIRES: Reserve() was OK, and the caller holds
  // the owner. Called once.
  void Fill(RowQueue* queue);

  // REQUIRES: the caller holds the child.
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_);

  uint32_t number() const { return number_; }
  const Request& request() const { return request_; }
  Request* request() { return &request_; }

  void Send(const Answer& answer) override { owner_->ChildAnswered(this, answer); }
  void Fail(const absl::Status& status) override;

 protected:
  // Null: the child is in no queue.
  void NoteQueue(RequestQueue* queue) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  ChildOwner* const owner_;
  const uint32_t number_;
  Request request_;
  RowTargets targets_;
  bool is_refused_ = false;

  absl::Mutex mu_;
  RequestQueue* queue_ ABSL_GUARDED_BY(mu_) = nullptr;  // null until it may be told things
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace mpsd
