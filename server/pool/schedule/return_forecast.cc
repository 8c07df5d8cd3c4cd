#include "server/pool/schedule/return_forecast.h"

#include <algorithm>
#include <cmath>

namespace mpsd {
namespace {

constexpr double kShare = 1.0 / 16;
constexpr double kDelayShare = 1.0 / 8;
constexpr double kDeviationShare = 1.0 / 4;
// Nobody waits for a client that takes longer.
constexpr int64_t kLongestNs = 50'000'000;
// A debt is forgotten after this multiple of the delay that is seldom exceeded.
constexpr int64_t kPatience = 4;

}  // namespace

int64_t ReturnForecast::SeldomLaterNs() const {
  return std::min(kLongestNs, static_cast<int64_t>(delay_ns_ + 2 * deviation_ns_));
}

void ReturnForecast::Answered(uint32_t requests, int64_t now_ns) {
  if (requests == 0) return;
  ForgetLate(now_ns);
  if (count_ == kGroups) ForgetFirst();
  group(count_++) = {now_ns, requests, requests};
}

void ReturnForecast::Arrived(int64_t now_ns) {
  ForgetLate(now_ns);
  Group* const paid = GroupPaidAt(now_ns);
  if (paid == nullptr) return;
  const auto delay = static_cast<double>(now_ns - paid->answered_ns);
  if (measured_) {
    deviation_ns_ += (std::abs(delay - delay_ns_) - deviation_ns_) * kDeviationShare;
    delay_ns_ += (delay - delay_ns_) * kDelayShare;
  } else {
    measured_ = true;
    delay_ns_ = delay;
    deviation_ns_ = delay / 2;
  }
  returned_ += (1 - returned_) * kShare;
  --paid->owed;
  while (count_ > 0 && group(0).owed == 0) ForgetFirst();
}

// The batch answered nearest to the mean delay ago. If the oldest debt were paid first, a client
// that left would pass one debt from batch to batch for ever, and each would seem late.
ReturnForecast::Group* ReturnForecast::GroupPaidAt(int64_t now_ns) {
  Group* older = nullptr;
  for (size_t i = 0; i < count_; ++i) {
    Group& one = group(i);
    if (one.owed == 0) continue;
    const auto away_ns = [this, now_ns](const Group& of) {
      return std::abs(static_cast<double>(now_ns - of.answered_ns) - delay_ns_);
    };
    if (older == nullptr && !measured_) return &one;
    if (static_cast<double>(now_ns - one.answered_ns) <= delay_ns_) {
      return older != nullptr && away_ns(*older) <= away_ns(one) ? older : &one;
    }
    older = &one;
  }
  return older;
}

void ReturnForecast::ForgetLate(int64_t now_ns) {
  const int64_t patience_ns = measured_ ? kPatience * SeldomLaterNs() : kLongestNs;
  while (count_ > 0 && now_ns - group(0).answered_ns > patience_ns) {
    returned_ *= std::pow(1 - kShare, group(0).owed);
    ForgetFirst();
  }
}

void ReturnForecast::ForgetFirst() {
  first_ = (first_ + 1) % kGroups;
  --count_;
}

ExpectedReturns ReturnForecast::Expect(int64_t now_ns) const {
  ExpectedReturns expected;
  uint32_t owed = 0;
  for (size_t i = 0; i < count_; ++i) {
    const int64_t by_ns = group(i).answered_ns + SeldomLaterNs();
    if (group(i).owed == 0 || by_ns <= now_ns) continue;
    owed += group(i).owed;
    expected.by_ns = by_ns;
    expected.answered = group(i).answered;
  }
  expected.round_ns = SeldomLaterNs();
  expected.spread_ns = std::min(expected.round_ns, static_cast<int64_t>(4 * deviation_ns_));
  expected.requests = static_cast<uint32_t>(std::lround(owed * returned_));
  return expected;
}

}  // namespace mpsd
