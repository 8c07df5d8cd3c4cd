#include "client/traffic/arrival_plan.h"

#include <utility>

#include "client/traffic/dealt_arrivals.h"
#include "client/traffic/gap_arrivals.h"
#include "client/traffic/on_off_arrivals.h"
#include "client/traffic/trace_arrivals.h"
#include "proto/base/check.h"

namespace mpsd::traffic {
namespace {

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

std::unique_ptr<Arrivals> MakeArrivals(const ArrivalPlan& plan, uint32_t index, uint32_t count,
                                       uint64_t seed) {
  MPSD_CHECK(plan.IsOpen());
  std::unique_ptr<Arrivals> all = MakeAll(plan, seed);
  if (count == 1) return all;
  return std::make_unique<DealtArrivals>(std::move(all), index, count);
}

}  // namespace mpsd::traffic
