// Pool: the memory that rows lie in, the requests that wait for it, and when a client that found no
// room may come again.

#include <algorithm>
#include <utility>

#include "proto/base/check.h"
#include "server/batch/slab_sizing.h"
#include "server/dispatch/pool.h"
#include "server/request/retry_info.h"

namespace mpsd {
namespace {

// Memory that was refused is not asked for again for as long.
constexpr int64_t kGrowthPauseNs = 100 * kNsPerMs;

// The rate of completions is measured over this, and each measure counts for half.
constexpr int64_t kRateWindowNs = 100 * kNsPerMs;

constexpr int64_t kMinRetryNs = kNsPerMs;
constexpr int64_t kMaxRetryNs = 5 * kNsPerSecond;
constexpr int64_t kUnknownRetryNs = 100 * kNsPerMs;

}  // namespace

void Pool::AddSlabSegment(OwnedSegment segment, uint32_t number) {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    if (number == 0) first_slab_bytes_ = segment.bytes();
    batcher_.slabs()->AddSegment(std::move(segment), number);
    growing_ = false;
    wished_bytes_ = 0;
    NoteSlabs();
    PlaceWaiting(&work);
  }
  Carry(&work);
}

std::optional<uint64_t> Pool::TakeGrowthRequest() {
  absl::MutexLock lock(&mu_);
  if (wished_bytes_ == 0 || growing_) return std::nullopt;
  growing_ = true;
  const uint64_t have = batcher_.slabs()->segment_bytes();
  const uint64_t bytes = GrowthBytes(std::exchange(wished_bytes_, 0), have, platform::PageBytes());
  return bytes;
}

void Pool::RefuseSlabs() {
  Work work;
  {
    absl::MutexLock lock(&mu_);
    growing_ = false;
    wished_bytes_ = 0;
    no_growth_until_ns_ = clock_->NowNs() + kGrowthPauseNs;
    while (Request* request = waiting_.head()) {
      waiting_.Remove(request);
      request->Go(RequestState::kEnded);
      NoteQueueOf(*request, -1);
      inside_.fetch_sub(1, std::memory_order_relaxed);
      work.ended.emplace_back(request, FullError());
    }
  }
  Carry(&work);
}

std::optional<uint32_t> Pool::RetireIdleSegment(uint32_t idle_calls) {
  absl::MutexLock lock(&mu_);
  if (batcher_.slabs()->segment_count() <= 1) return std::nullopt;
  batcher_.CloseIdleSlabs();
  NoteSlabs();
  return batcher_.slabs()->RetireIdle(idle_calls);
}

OwnedSegment Pool::RemoveSlabSegment(uint32_t number) {
  absl::MutexLock lock(&mu_);
  OwnedSegment segment = batcher_.slabs()->RemoveSegment(number);
  NoteSlabs();
  return segment;
}

std::vector<SlabSegment> Pool::SlabDescriptors() const {
  absl::MutexLock lock(&mu_);
  return batcher_.slab_table().Segments();
}

// Rows found no room in any segment: asks for a further one, unless that was just refused or the
// pool has all that it may have.
void Pool::WishForSlabs(int64_t* tick_by_ns) {
  const uint64_t missed_bytes = batcher_.TakeMissedBytes();
  if (missed_bytes == 0) return;
  const int64_t now_ns = clock_->NowNs();
  if (now_ns < no_growth_until_ns_) return;
  const SlabTable& slabs = batcher_.slab_table();
  if (slabs.segment_count() >= kMaxSlabSegments ||
      slabs.segment_bytes() + missed_bytes >
          MaxSlabBytes(first_slab_bytes_, options_.queue_bytes)) {
    no_growth_until_ns_ = now_ns + kGrowthPauseNs;
    return;
  }
  const bool first = wished_bytes_ == 0;
  wished_bytes_ = std::max(wished_bytes_, missed_bytes);
  if (first && !growing_) *tick_by_ns = now_ns;
}

// Those whose deadline is the earliest first, as far as there is room by now.
void Pool::PlaceWaiting(Work* work) {
  while (Request* request = waiting_.head()) {
    RowTargets targets;
    waiting_.Remove(request);
    if (!batcher_.Reserve(request, &targets).ok()) {
      waiting_.InsertByDeadline(request);
      break;
    }
    work->fills.emplace_back(request, std::move(targets));
  }
  WishForSlabs(&work->tick_by_ns);
}

void Pool::TakeExpiredWaiting(int64_t now_ns) {
  while (Request* request = waiting_.head()) {
    if (request->deadline_ns > now_ns) return;
    waiting_.Remove(request);
    request->Go(RequestState::kEnded);
    expired_.push_back(request);
  }
}

void Pool::MeasureRate(int64_t now_ns) {
  const int64_t window_ns = now_ns - rate_since_ns_;
  if (window_ns < kRateWindowNs) return;
  const double measured =
      static_cast<double>(std::exchange(ended_requests_, 0)) / static_cast<double>(window_ns);
  requests_per_ns_ = rate_since_ns_ == 0 ? measured : (requests_per_ns_ + measured) / 2;
  rate_since_ns_ = now_ns;
}

// A quarter of the queue should have drained when who is refused now comes again: sooner, most of
// them would be refused once more.
int64_t Pool::RetryDelayNs() const {
  if (requests_per_ns_ <= 0) return kUnknownRetryNs;
  const double requests = std::max(1.0, queued_requests_ / 4.0);
  const double delay_ns = requests / requests_per_ns_;
  return std::clamp(
      delay_ns >= static_cast<double>(kMaxRetryNs) ? kMaxRetryNs : static_cast<int64_t>(delay_ns),
      kMinRetryNs, kMaxRetryNs);
}

absl::Status Pool::FullError() const {
  return WithRetryAfter(absl::ResourceExhaustedError("Exceeds maximum queue size"), RetryDelayNs());
}

}  // namespace mpsd
