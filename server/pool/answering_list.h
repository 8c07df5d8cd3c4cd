// AnsweringList: requests of a decoupled model with one answer on its way.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "proto/base/check.h"
#include "server/pool/batch/request_list.h"
#include "server/pool/pool_queue.h"

namespace mpsd {

// Thread-compatible: its pool's mutex guards it. A request is here from an answer's completion
// until Pool::Continue(). Its reply is in use until then, so a request that was given up ends only
// then.
class AnsweringList {
 public:
  // `queue` outlives the list.
  explicit AnsweringList(PoolQueue* queue) : queue_(queue) {}

  void Add(Request* request, int64_t now_ns) {
    request->Go(RequestState::kAnswering);
    ++request->answers;
    request->AwaitFurther(now_ns);
    list_.InsertByDeadline(request);
  }

  // The caller returns the request to its line, or ends it with Request::given_up.
  void Remove(Request* request) {
    MPSD_CHECK(request->state == RequestState::kAnswering);
    list_.Remove(request);
  }

  // Gives the request this ending, unless it has one. Its rows end now.
  void GiveUp(Request* request, const absl::Status& status) {
    MPSD_CHECK(request->state == RequestState::kAnswering && !status.ok());
    if (!request->given_up.ok()) return;
    queue_->EndRows(request->place, request->rows);
    request->given_up = status;
  }

  void GiveUpExpired(int64_t until_ns, const absl::Status& status) {
    for (size_t i = 0; i < list_.size(); ++i) {
      if (list_.at(i)->deadline_ns > until_ns) return;
      GiveUp(list_.at(i), status);
    }
  }

  bool empty() const { return list_.empty(); }

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
