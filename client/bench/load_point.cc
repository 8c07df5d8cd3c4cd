#include "client/bench/load_point.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mpsd::bench {
namespace {

// `latency` has only right answers.
int64_t QuantileOfAllNs(const traffic::LatencyHistogram& latency, uint64_t due, double quantile) {
  const double wanted = quantile * static_cast<double>(due);
  const auto answered = static_cast<double>(latency.count());
  if (due == 0 || wanted > answered) return std::numeric_limits<int64_t>::max();
  return latency.QuantileNs(wanted / answered);
}

// gRPC and Abseil number their codes alike.
std::map<std::string, uint64_t> ErrorsByName(const traffic::LoadCounts& counts) {
  std::map<std::string, uint64_t> errors;
  for (const auto& [code, count] : counts.errors) {
    errors[absl::StatusCodeToString(static_cast<absl::StatusCode>(code))] += count;
  }
  if (counts.wrong > 0) errors["WRONG"] = counts.wrong;
  if (counts.not_sent > 0) errors["NOT_SENT"] = counts.not_sent;
  return errors;
}

// A closed loop counts errors whenever they come, so its number may be too high.
uint64_t DueCount(const Load& load, const traffic::LoadCounts& counts) {
  if (load.clients == 0) return counts.intended;
  uint64_t failed = counts.wrong;
  for (const auto& [code, count] : counts.errors) failed += count;
  return counts.latency.count() + failed;
}

}  // namespace

std::string LoadText(const Load& load) {
  if (load.clients == 0) return absl::StrFormat("%.4g /s", load.rate);
  return absl::StrCat(load.clients, load.clients == 1 ? " client" : " clients");
}

LoadPoint MakeLoadPoint(const Load& load, const traffic::LoadResult& result,
                        const client::ModelRuns& before, const client::ModelRuns& after,
                        const Slo* slo) {
  const traffic::LoadCounts& counts = result.counts;
  const double per_second = result.window_seconds > 0 ? 1 / result.window_seconds : 0;
  const uint64_t due = DueCount(load, counts);
  const auto quantile_ns = [&](double quantile) {
    return QuantileOfAllNs(counts.latency, due, quantile);
  };
  LoadPoint point;
  point.load = load;
  point.due = due;
  point.offered = per_second *
                  static_cast<double>(load.clients == 0 ? counts.intended : counts.ended_in_window);
  point.answered = per_second * static_cast<double>(counts.answered_in_window);
  point.p50_ns = quantile_ns(0.5);
  point.p95_ns = quantile_ns(0.95);
  point.p99_ns = quantile_ns(0.99);
  if (after.batches > before.batches && after.rows > before.rows) {
    point.mean_batch = static_cast<double>(after.rows - before.rows) /
                       static_cast<double>(after.batches - before.batches);
  }
  point.errors = ErrorsByName(counts);
  if (slo != nullptr) {
    point.slo_latency_ns = quantile_ns(slo->quantile);
    point.meets_slo = point.slo_latency_ns <= slo->bound_ns;
  }
  return point;
}

}  // namespace mpsd::bench
