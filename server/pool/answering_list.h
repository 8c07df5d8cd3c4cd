// AnsweringList: requests of a decoupled model with one answer on its way.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/check.h"
#include "server/pool/batch/request_list.h"
#include "server/pool/pool_queue.h"

namespace mpsd {

// Owned by a pool. Thread-compatible: guarded by the pool's mutex. A request is in it from the
// answer's completion until Pool::Continue() says that the answer is taken. Until then it cannot
// end, since its reply is in use. It can be given up, and then ends when it is taken out.
class AnsweringList {
 public:
  // `queue` has the requests' rows, and outlives the list.
  explicit AnsweringList(PoolQueue* queue) : queue_(queue) {}

  // A further answer of the running request goes to its client.
  void Add(Request* request, int64_t now_ns) {
    request->Go(RequestState::kAnswering);
    ++request->answers;
    request->AwaitFurther(now_ns);
    list_.InsertByDeadline(request);
  }

  // The answer is taken. The caller returns the request to its line, or ends it as
  // Request::given_up says.
  void Remove(Request* request) {
    MPSD_CHECK(request->state == RequestState::kAnswering);
    list_.Remove(request);
  }

  // Gives the request this ending, unless it was given up before. Its rows end now.
  void GiveUp(Request* request, const absl::Status& status) {
    MPSD_CHECK(request->state == RequestState::kAnswering && !status.ok());
    if (!request->given_up.ok()) return;
    queue_->EndRows(request->place, request->rows);
    request->given_up = status;
  }

  // Gives up the requests with a deadline up to `until_ns`.
  void GiveUpExpired(int64_t until_ns, const absl::Status& status) {
    for (size_t i = 0; i < list_.size(); ++i) {
      if (list_.at(i)->deadline_ns > until_ns) return;
      GiveUp(list_.at(i), status);
    }
  }

  bool empty() const { return list_.empty(); }

  // For the pool's invariants: visits the requests here, with the rows that they hold.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < list_.size(); ++i) {
      MPSD_CHECK(list_.at(i)->state == RequestState::kAnswering);
      visit(*list_.at(i));
    }
  }

 private:
  PoolQueue* const queue_;
  RequestList list_;
};

}  // namespace mpsd
