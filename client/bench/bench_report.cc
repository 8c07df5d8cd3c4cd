#include "client/bench/bench_report.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::bench {
namespace {

using nlohmann::ordered_json;

std::string ErrorsText(const LoadPoint& point) {
  std::string text;
  for (const auto& [name, count] : point.errors) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", count, " ", name);
  }
  return text.empty() ? "-" : text;
}

std::string BatchText(double rows) { return rows > 0 ? absl::StrFormat("%.1f", rows) : "-"; }

ordered_json LatencyJson(int64_t ns) {
  if (ns == std::numeric_limits<int64_t>::max()) return nullptr;
  return static_cast<double>(ns) / kNsPerMs;
}

}  // namespace

std::string BenchTitles(bool slo) {
  return absl::StrFormat("%-14s %10s %11s %9s %9s %9s %6s  %s%s\n", "LOAD", "OFFERED/S",
                         "ANSWERED/S", "P50", "P95", "P99", "BATCH", slo ? "SLO     " : "",
                         "ERRORS");
}

std::string BenchLine(const LoadPoint& point, bool slo) {
  return absl::StrFormat("%-14s %10.1f %11.1f %9s %9s %9s %6s  %s%s\n", LoadText(point.load),
                         point.offered, point.answered, bench::LatencyText(point.p50_ns),
                         bench::LatencyText(point.p95_ns), bench::LatencyText(point.p99_ns),
                         BatchText(point.mean_batch),
                         !slo              ? ""
                         : point.due == 0  ? "-       "
                         : point.meets_slo ? "met     "
                                           : "not met ",
                         ErrorsText(point));
}

std::string KneeText(const BenchReport& report) {
  MPSD_CHECK(report.slo.has_value());
  const std::string slo = SloText(*report.slo);
  if (!report.knee) return absl::StrCat("no load meets ", slo, "\n");
  return absl::StrFormat("the highest load that meets %s: %.1f a second, %.1f answered, at %s\n",
                         slo, report.knee->load.rate, report.knee->answered,
                         bench::LatencyText(report.knee->slo_latency_ns));
}

ordered_json PointJson(const LoadPoint& point) {
  ordered_json json;
  if (point.load.clients > 0) {
    json["clients"] = point.load.clients;
  } else {
    json["rate"] = point.load.rate;
  }
  json["offered"] = point.offered;
  json["answered"] = point.answered;
  json["p50_ms"] = LatencyJson(point.p50_ns);
  json["p95_ms"] = LatencyJson(point.p95_ns);
  json["p99_ms"] = LatencyJson(point.p99_ns);
  json["mean_batch"] = nullptr;
  if (point.mean_batch > 0) json["mean_batch"] = point.mean_batch;
  json["errors"] = ordered_json::object();
  for (const auto& [name, count] : point.errors) json["errors"][name] = count;
  return json;
}

std::string BenchJson(const BenchReport& report) {
  ordered_json json = {{"address", report.address},
                       {"model", report.model},
                       {"seconds", report.seconds},
                       {"points", ordered_json::array()}};
  for (const LoadPoint& point : report.points) json["points"].push_back(PointJson(point));
  if (report.slo) {
    json["slo"] = {{"quantile", report.slo->quantile},
                   {"bound_ms", LatencyJson(report.slo->bound_ns)}};
    json["knee"] = nullptr;
    if (report.knee) json["knee"] = PointJson(*report.knee);
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mpsd::bench
