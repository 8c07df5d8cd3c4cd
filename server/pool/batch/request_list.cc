#include "server/pool/batch/request_list.h"

#include <algorithm>
#include <utility>

#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr size_t kFirstSize = 8;

}  // namespace

void RequestList::InsertByDeadline(Request* request) {
  if (count_ == ring_.size()) Grow();
  const size_t place = CountUntil(request->deadline_ns);
  if (2 * place < count_) {
    --first_;  // wraps, as entry() does
    for (size_t i = 0; i < place; ++i) entry(i) = entry(i + 1);
  } else {
    for (size_t i = count_; i > place; --i) entry(i) = entry(i - 1);
  }
  entry(place) = {request->deadline_ns, request};
  ++count_;
  rows_ += request->rows;
}

void RequestList::Remove(Request* request) {
  size_t place = 0;
  if (head() != request) {
    // After all earlier deadlines, perhaps among several equal ones.
    place = CountUntil(request->deadline_ns - 1);
    while (place < count_ && at(place) != request) ++place;
  }
  MPSD_CHECK(place < count_ && rows_ >= request->rows);
  if (2 * place < count_) {
    for (size_t i = place; i > 0; --i) entry(i) = entry(i - 1);
    ++first_;
  } else {
    for (size_t i = place; i + 1 < count_; ++i) entry(i) = entry(i + 1);
  }
  --count_;
  rows_ -= request->rows;
}

// How many requests have a deadline not later than this.
size_t RequestList::CountUntil(int64_t deadline_ns) const {
  if (empty() || entry(count_ - 1).deadline_ns <= deadline_ns) return count_;
  size_t begin = 0;
  size_t end = count_ - 1;  // the last one's deadline is later
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (entry(middle).deadline_ns <= deadline_ns) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

void RequestList::Grow() {
  std::vector<Entry> larger(std::max(kFirstSize, 2 * ring_.size()));
  for (size_t i = 0; i < count_; ++i) larger[i] = entry(i);
  ring_ = std::move(larger);
  first_ = 0;
}

}  // namespace mpsd
