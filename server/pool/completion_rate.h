// CompletionRate: how fast a pool answers, and so when a refused client may return.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "proto/base/clock.h"

namespace mpsd {

// Thread-compatible: its pool's mutex guards it.
//
//   queued requests   rate         delay until a quarter of the queue has drained
//   256               not known    100 ms: kUnknownRetryNs
//   256               1000 a s     64 ms
//   256               10 a s       5 s: kMaxRetryNs, instead of 6.4 s
//   3                 20000 a s    1 ms: kMinRetryNs
class CompletionRate {
 public:
  static constexpr int64_t kWindowNs = 100 * kNsPerMs;
  static constexpr int64_t kMinRetryNs = kNsPerMs;
  static constexpr int64_t kMaxRetryNs = 5 * kNsPerSecond;
  static constexpr int64_t kUnknownRetryNs = 100 * kNsPerMs;

  // Requests that ended with their batch, by an answer or an error; expired ones do not count.
  void Count(uint64_t requests) { answered_ += requests; }

  // A measure counts for half of the rate, the first one for all of it.
  void Measure(int64_t now_ns) {
    if (!std::exchange(measures_, true)) since_ns_ = now_ns;
    const int64_t window_ns = now_ns - since_ns_;
    if (window_ns < kWindowNs) return;
    const double measured =
        static_cast<double>(std::exchange(answered_, 0)) / static_cast<double>(window_ns);
    requests_per_ns_ = requests_per_ns_ <= 0 ? measured : (requests_per_ns_ + measured) / 2;
    since_ns_ = now_ns;
  }

  int64_t RetryDelayNs(uint32_t queued_requests) const {
    if (requests_per_ns_ <= 0) return kUnknownRetryNs;
    const double delay_ns = std::max(1.0, queued_requests / 4.0) / requests_per_ns_;
    if (delay_ns >= static_cast<double>(kMaxRetryNs)) return kMaxRetryNs;
    return std::max(static_cast<int64_t>(delay_ns), kMinRetryNs);
  }

 private:
  uint64_t answered_ = 0;  // since since_ns_
  bool measures_ = false;  // the first window has begun
  int64_t since_ns_ = 0;
  double requests_per_ns_ = 0;
};

}  // namespace mpsd
