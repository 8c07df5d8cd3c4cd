#include "client/traffic/due_calls.h"

#include <algorithm>

#include "client/traffic/arrival_plan.h"

namespace mpsd::traffic {
namespace {

constexpr double kMostUnsent = 1e15;  // fits a sum of all pumps

}  // namespace

DueCalls::DueCalls(const LoadPlan& plan, const Window& window, uint32_t thread)
    : plan_(plan),
      window_(window),
      arrivals_(MakeArrivals(plan.arrivals, thread, plan.threads, plan.seed)) {
  counts_.timeline = Timeline(plan.timeline_ns);
}

std::optional<int64_t> DueCalls::Next() {
  const int64_t intended_ns = window_.begin_ns - plan_.warmup_ns + arrivals_->NextNs();
  if (intended_ns >= window_.end_ns) return std::nullopt;
  return intended_ns;
}

bool DueCalls::CountDue(int64_t intended_ns) {
  if (!window_.Holds(intended_ns)) return false;
  ++counts_.intended;
  counts_.timeline.Count(Timeline::kDue, intended_ns - window_.begin_ns);
  return true;
}

void DueCalls::Sent(int64_t intended_ns, int64_t now_ns) {
  if (CountDue(intended_ns)) counts_.lateness.Record(now_ns - intended_ns);
}

void DueCalls::NotSent(int64_t intended_ns) {
  if (CountDue(intended_ns)) ++counts_.not_sent;
}

void DueCalls::NotSentFrom(int64_t intended_ns) {
  const double rate = plan_.arrivals.rate / plan_.threads;
  const int64_t left_ns = window_.end_ns - std::max(intended_ns, window_.begin_ns);
  const double mean = rate * static_cast<double>(left_ns) / kNsPerSecond;
  const uint64_t count =
      (window_.Holds(intended_ns) ? 1 : 0) + static_cast<uint64_t>(std::min(mean, kMostUnsent));
  counts_.intended += count;
  counts_.not_sent += count;
}

}  // namespace mpsd::traffic
