#include "client/traffic/arrival_plan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "client/traffic/arrivals.h"
#include "client/traffic/on_off_arrivals.h"
#include "client/traffic/random_draws.h"
#include "client/traffic/trace.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {
namespace {

// A bin has as many times as the trace has calls, at random places. Begins anew after the last bin.
//
//   calls    3     0     1     │ 3     0     1
//   times    │ ││        │     │  ││ │    │
//
// Keeps the times of one bin. The trace outlives it. Thread-compatible.
class TraceArrivals final : public Arrivals {
 public:
  // REQUIRES: the trace has calls.
  TraceArrivals(const Trace& trace, uint64_t seed);

  int64_t NextNs() override;

 private:
  void DrawNextBin();

  const Trace& trace_;
  std::mt19937_64 bits_;
  uint64_t next_bin_ = 0;       // counts on over repetitions
  std::vector<int64_t> times_;  // sorted times of the last bin drawn
  size_t next_time_ = 0;
};

TraceArrivals::TraceArrivals(const Trace& trace, uint64_t seed) : trace_(trace), bits_(seed) {
  MPSD_CHECK(trace.CallsPerSecond() > 0);
}

int64_t TraceArrivals::NextNs() {
  while (next_time_ == times_.size()) DrawNextBin();
  return times_[next_time_++];
}

void TraceArrivals::DrawNextBin() {
  const double bin_ns = static_cast<double>(trace_.bin_ns);
  const double begin_ns = static_cast<double>(next_bin_) * bin_ns;
  times_.clear();
  next_time_ = 0;
  for (uint32_t left = trace_.calls[next_bin_ % trace_.calls.size()]; left > 0; --left) {
    const double at_ns = begin_ns + DrawUnit(&bits_) * bin_ns;
    times_.push_back(static_cast<int64_t>(std::min<double>(at_ns, kFarthestNs)));
  }
  std::sort(times_.begin(), times_.end());
  ++next_bin_;
}

// Each thread draws all times, from the same seed, and takes every nth. So all together send what
// one thread alone would.
//
//   all        │ ││    │  │││
//   1st of 2   │  │       │ │
//   2nd of 2     │     │   │
//
// Thread-compatible.
class DealtArrivals final : public Arrivals {
 public:
  // REQUIRES: index < count.
  DealtArrivals(std::unique_ptr<Arrivals> all, uint32_t index, uint32_t count)
      : all_(std::move(all)), count_(count), others_first_(index) {
    MPSD_CHECK(index < count);
  }

  int64_t NextNs() override {
    for (; others_first_ > 0; --others_first_) all_->NextNs();
    others_first_ = count_ - 1;
    return all_->NextNs();
  }

 private:
  const std::unique_ptr<Arrivals> all_;
  const uint32_t count_;
  uint32_t others_first_;  // other threads' times before the next
};

std::unique_ptr<Arrivals> MakeAll(const ArrivalPlan& plan, uint64_t seed) {
  if (plan.trace) return std::make_unique<TraceArrivals>(*plan.trace, seed);
  if (plan.off_ns == 0) {
    return std::make_unique<GapArrivals>(plan.rate, plan.cv, plan.burst, seed);
  }
  const double on_share =
      static_cast<double>(plan.on_ns) / static_cast<double>(plan.on_ns + plan.off_ns);
  return std::make_unique<OnOffArrivals>(
      std::make_unique<GapArrivals>(plan.rate / on_share, plan.cv, plan.burst, seed), plan.on_ns,
      plan.off_ns);
}

}  // namespace

GapArrivals::GapArrivals(double rate, double cv, uint32_t burst, uint64_t seed)
    : shape_(1 / (cv * cv)),
      scale_ns_(static_cast<double>(kNsPerSecond) * burst / rate / shape_),
      burst_(burst),
      bits_(seed) {
  MPSD_CHECK(rate > 0);
  MPSD_CHECK(cv > 0);
  MPSD_CHECK(burst > 0);
}

int64_t GapArrivals::NextNs() {
  if (left_in_burst_ == 0) {
    now_ns_ += DrawGamma(shape_, &bits_) * scale_ns_;
    left_in_burst_ = burst_;
  }
  --left_in_burst_;
  return static_cast<int64_t>(std::min<double>(now_ns_, kFarthestNs));
}

std::unique_ptr<Arrivals> MakeArrivals(const ArrivalPlan& plan, uint32_t index, uint32_t count,
                                       uint64_t seed) {
  MPSD_CHECK(plan.IsOpen());
  std::unique_ptr<Arrivals> all = MakeAll(plan, seed);
  if (count == 1) return all;
  return std::make_unique<DealtArrivals>(std::move(all), index, count);
}

}  // namespace mpsd::traffic
