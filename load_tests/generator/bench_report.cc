#include "load_tests/generator/bench_report.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace mpsd::load {
namespace {

using traffic::LatencyHistogram;
using traffic::LoadCounts;
using traffic::LoadPlan;
using traffic::LoadResult;
using traffic::ProcessUsage;
using traffic::Timeline;
using traffic::WatchedUsage;

// gRPC and Abseil number their codes alike.
std::string CodeName(int code) {
  return absl::StatusCodeToString(static_cast<absl::StatusCode>(code));
}

double PerSecond(const LoadResult& result, uint64_t count) {
  return result.window_seconds > 0 ? static_cast<double>(count) / result.window_seconds : 0;
}

nlohmann::json QuantilesJson(const LatencyHistogram& histogram) {
  const auto us = [&](double quantile) {
    return static_cast<double>(histogram.QuantileNs(quantile)) * 1e-3;
  };
  return {{"p50", us(0.5)},
          {"p90", us(0.9)},
          {"p99", us(0.99)},
          {"p99_9", us(0.999)},
          {"max", static_cast<double>(histogram.max_ns()) * 1e-3},
          {"mean", histogram.MeanNs() * 1e-3}};
}

nlohmann::json UsageJson(const std::string& name, const ProcessUsage& used, uint64_t calls) {
  const double per_call = 1.0 / static_cast<double>(std::max<uint64_t>(calls, 1));
  return {{"name", name},
          {"cpu_us", static_cast<double>(used.cpu_us()) * per_call},
          {"user_us", static_cast<double>(used.user_us) * per_call},
          {"system_us", static_cast<double>(used.system_us) * per_call},
          {"voluntary_switches", static_cast<double>(used.voluntary_switches) * per_call},
          {"involuntary_switches", static_cast<double>(used.involuntary_switches) * per_call}};
}

nlohmann::json TimelineJson(const Timeline& timeline) {
  return {{"span_s", static_cast<double>(timeline.span_ns()) * 1e-9},
          {"due", timeline.counts(Timeline::kDue)},
          {"good", timeline.counts(Timeline::kGood)},
          {"other", timeline.counts(Timeline::kOther)}};
}

std::string QuantilesText(const char* what, const nlohmann::json& quantiles) {
  std::string line = absl::StrFormat("%-12s", what);
  for (const char* key : {"p50", "p90", "p99", "p99_9", "max"}) {
    absl::StrAppend(&line, absl::StrFormat("  %s %.1f", key, quantiles[key].get<double>()));
  }
  return line + " us\n";
}

}  // namespace

nlohmann::json ReportJson(const LoadPlan& plan, const LoadResult& result) {
  const LoadCounts& counts = result.counts;
  nlohmann::json report = {{"target", plan.target},
                           {"loop", plan.arrivals.IsOpen() ? "open" : "closed"},
                           {"seconds", result.window_seconds},
                           {"answered", counts.answered_in_window},
                           {"throughput", PerSecond(result, counts.answered_in_window)},
                           {"goodput", PerSecond(result, counts.good_in_window)},
                           {"latency_us", QuantilesJson(counts.latency)},
                           {"wrong", counts.wrong},
                           {"errors", nlohmann::json::object()},
                           {"processes", nlohmann::json::array()}};
  if (plan.arrivals.IsOpen()) {
    report["rate"] = plan.arrivals.rate;
    report["offered"] = PerSecond(result, counts.intended);
    report["good_share"] = static_cast<double>(counts.good) /
                           static_cast<double>(std::max<uint64_t>(counts.intended, 1));
    report["not_sent"] = counts.not_sent;
    report["lateness_us"] = QuantilesJson(counts.lateness);
  } else {
    report["concurrency"] = plan.concurrency;
  }
  if (plan.timeline_ns > 0) report["timeline"] = TimelineJson(counts.timeline);
  for (const auto& [code, count] : counts.errors) report["errors"][CodeName(code)] = count;
  report["processes"].push_back(UsageJson("client", result.client, counts.ended_in_window));
  for (const WatchedUsage& watched : result.watched) {
    report["processes"].push_back(UsageJson(watched.name, watched.used, counts.ended_in_window));
  }
  return report;
}

std::string ReportText(const LoadPlan& plan, const LoadResult& result) {
  const nlohmann::json report = ReportJson(plan, result);
  std::string text = absl::StrFormat(
      "%s loop, %.2f s: %d answered, %.1f a second\n", report["loop"].get<std::string>(),
      result.window_seconds, result.counts.answered_in_window, report["throughput"].get<double>());
  absl::StrAppend(&text, QuantilesText("latency", report["latency_us"]));
  if (plan.arrivals.IsOpen()) {
    absl::StrAppend(&text, QuantilesText("sent late by", report["lateness_us"]),
                    absl::StrFormat("offered %.1f a second, %d not sent\n",
                                    report["offered"].get<double>(), result.counts.not_sent));
  }
  if (plan.slo_ns > 0) {
    absl::StrAppend(&text,
                    absl::StrFormat("goodput %.1f a second\n", report["goodput"].get<double>()));
  }
  for (const auto& process : report["processes"]) {
    absl::StrAppend(
        &text, absl::StrFormat("%-12s  cpu %.2f us (%.2f user, %.2f system), switches %.3f + %.3f "
                               "involuntary a call\n",
                               process["name"].get<std::string>(), process["cpu_us"].get<double>(),
                               process["user_us"].get<double>(), process["system_us"].get<double>(),
                               process["voluntary_switches"].get<double>(),
                               process["involuntary_switches"].get<double>()));
  }
  absl::StrAppend(&text, absl::StrFormat("wrong answers %d, errors %s\n", result.counts.wrong,
                                         report["errors"].dump()));
  return text;
}

}  // namespace mpsd::load
