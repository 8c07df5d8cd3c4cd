// RequestList: requests in the order of their deadlines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "server/request/request.h"

namespace mpsd {

// Thread-compatible: the pool's mutex guards it. A sorted ring of (deadline, request), 16 bytes
// each. Most requests arrive in the order of their deadlines and leave at the head, in one step.
// Any other call costs a binary search and a move of the shorter side: moving a thousand costs as
// much as a walk over ten linked requests. The ring keeps its memory; the queue bounds its length.
//
// Invariants:
//   1. Deadlines ascend from head to tail; equal ones are in insertion order.
//   2. A request's deadline and rows do not change while the request is here.
//   3. rows() is the sum of the requests' rows.
class RequestList {
 public:
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }

  // REQUIRES: i < size().
  Request* at(size_t i) const { return entry(i).request; }

  // The earliest and the latest deadline; null when the list is empty.
  Request* head() const { return empty() ? nullptr : at(0); }
  Request* tail() const { return empty() ? nullptr : at(count_ - 1); }
  uint32_t rows() const { return rows_; }

  // REQUIRES: the request is in no list.
  void InsertByDeadline(Request* request);

  // CHECKs that the request is in this list.
  void Remove(Request* request);

 private:
  struct Entry {
    int64_t deadline_ns = 0;
    Request* request = nullptr;
  };

  Entry& entry(size_t i) { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  const Entry& entry(size_t i) const { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  size_t CountUntil(int64_t deadline_ns) const;
  void Grow();

  std::vector<Entry> ring_;
  size_t first_ = 0;
  size_t count_ = 0;
  uint32_t rows_ = 0;
};

}  // namespace mpsd
