// RequestList: requests in the order of their deadlines.
#pragma once

#include <cstdint>

#include "server/request/request.h"

namespace mpsd {

// Thread-compatible: guarded by the pool's mutex. Intrusive: it links the requests through their
// own fields, so a request is in one list at most, and no call allocates. It owns no request.
class RequestList {
 public:
  bool empty() const { return head_ == nullptr; }

  // The request with the earliest deadline; null when the list is empty. The others follow by
  // Request::next.
  Request* head() const { return head_; }
  Request* tail() const { return tail_; }
  uint32_t rows() const { return rows_; }

  // Puts the request behind all whose deadline is not later. Costs one step for each request whose
  // deadline is later: none where requests arrive in the order of their deadlines.
  void InsertByDeadline(Request* request);

  // REQUIRES: the request is in this list.
  void Remove(Request* request);

 private:
  Request* head_ = nullptr;
  Request* tail_ = nullptr;
  uint32_t rows_ = 0;
};

}  // namespace mpsd
