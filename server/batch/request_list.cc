#include "server/batch/request_list.h"

#include "proto/base/check.h"

namespace mpsd {

void RequestList::InsertByDeadline(Request* request) {
  MPSD_CHECK(request->previous == nullptr && request->next == nullptr && head_ != request);
  Request* before = tail_;
  while (before != nullptr && before->deadline_ns > request->deadline_ns) before = before->previous;
  request->previous = before;
  request->next = before == nullptr ? head_ : before->next;
  (before == nullptr ? head_ : before->next) = request;
  (request->next == nullptr ? tail_ : request->next->previous) = request;
  rows_ += request->rows;
}

void RequestList::Remove(Request* request) {
  MPSD_CHECK(rows_ >= request->rows);
  MPSD_CHECK(request->previous != nullptr || head_ == request);
  (request->previous == nullptr ? head_ : request->previous->next) = request->next;
  (request->next == nullptr ? tail_ : request->next->previous) = request->previous;
  request->previous = nullptr;
  request->next = nullptr;
  rows_ -= request->rows;
}

}  // namespace mpsd
