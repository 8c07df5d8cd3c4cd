#include "tests/crash/stall_watch.h"

#include "absl/time/time.h"
#include "proto/base/clock.h"

namespace mpsd::crash {
namespace {

constexpr int64_t kPeriodNs = 10 * kNsPerMs;
constexpr int64_t kOrdinaryNs = 10 * kNsPerMs;

}  // namespace

StallWatch::~StallWatch() {
  stop_.Notify();
  thread_.join();
}

void StallWatch::Main() {
  int64_t asleep_ns = Clock::Real()->NowNs();
  while (!stop_.WaitForNotificationWithTimeout(absl::Nanoseconds(kPeriodNs))) {
    const int64_t awake_ns = Clock::Real()->NowNs();
    const int64_t late_ns = awake_ns - asleep_ns - kPeriodNs;
    if (late_ns > kOrdinaryNs) stalled_ns_.fetch_add(late_ns, std::memory_order_relaxed);
    asleep_ns = awake_ns;
  }
}

}  // namespace mpsd::crash
