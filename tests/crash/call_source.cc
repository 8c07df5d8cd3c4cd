#include "tests/crash/call_source.h"

#include "proto/base/clock.h"

namespace mpsd::crash {
namespace {

constexpr uint64_t kCancelMs = 20;

}  // namespace

bool CallSource::Draw(double percent) {
  return static_cast<double>(random_() % 1'000'000) < percent * 10'000;
}

int64_t CallSource::DrawCancelNs() {
  return static_cast<int64_t>(random_() % kCancelMs) * kNsPerMs;
}

Call CallSource::Next() {
  Call call;
  call.id = plan_.seed % 1'000'000 * 1'000'000'000 + next_id_++;
  call.rows = 1 + static_cast<uint32_t>(random_() % plan_.rows_max);
  call.poisoned = Draw(plan_.poison_percent);
  call.cancelled = Draw(plan_.cancel_percent);
  call.in_json = Draw(plan_.json_percent);
  call.timeout_ns = plan_.patience_ms * kNsPerMs;
  if (Draw(plan_.timeout_percent)) {
    const auto range = static_cast<uint64_t>(plan_.timeout_high_ms - plan_.timeout_low_ms + 1);
    const auto extra_ms = static_cast<int64_t>(random_() % range);
    call.timeout_ns = (plan_.timeout_low_ms + extra_ms) * kNsPerMs;
  }
  return call;
}

}  // namespace mpsd::crash
