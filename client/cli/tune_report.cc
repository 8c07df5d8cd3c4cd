#include "client/cli/tune_report.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/bench/bench_report.h"
#include "client/tune/tune_plan.h"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd::cli {
namespace {

using bench::LatencyText;
using bench::LoadPoint;
using nlohmann::ordered_json;
using tune::Trial;
using tune::TrialState;

const char* StateName(TrialState state) {
  switch (state) {
    case TrialState::kMet:
      return "met";
    case TrialState::kTooSlow:
      return "not met";
    case TrialState::kNotTried:
      return "not tried";
    default:
      return "failed";
  }
}

std::string OneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), absl::ascii_iscntrl, ' ');
  return text;
}

std::string WorkersText(const Trial& trial) {
  return trial.processes == 0 ? "-" : absl::StrCat(trial.processes, "x", trial.lanes);
}

// Shows what a row of `bench` has.
std::string PointText(const LoadPoint& point) {
  std::string text = absl::StrFormat("%.1f answered, p50 %s, p99 %s", point.answered,
                                     LatencyText(point.p50_ns), LatencyText(point.p99_ns));
  if (point.mean_batch > 0) absl::StrAppendFormat(&text, ", batch %.1f", point.mean_batch);
  return text;
}

ordered_json CountJson(uint32_t count) {
  if (count == 0) return nullptr;
  return count;
}

ordered_json TrialJson(const Trial& trial) {
  const tune::Placement& placement = trial.candidate.placement;
  ordered_json json;
  json["placement"] = {{"processes", CountJson(placement.processes)},
                       {"lanes", CountJson(placement.lanes)},
                       {"threads", CountJson(placement.threads)}};
  json["max_batch_size"] = CountJson(trial.candidate.max_batch_size);
  json["precision"] = nullptr;
  if (!trial.candidate.precision.empty()) json["precision"] = trial.candidate.precision;
  json["state"] = StateName(trial.state);
  json["reason"] = nullptr;
  if (!trial.reason.empty()) json["reason"] = trial.reason;
  json["workers"] = {{"processes", CountJson(trial.processes)}, {"lanes", CountJson(trial.lanes)}};
  json["knee"] = nullptr;
  if (trial.knee) json["knee"] = bench::PointJson(*trial.knee);
  return json;
}

}  // namespace

std::string TuneTitles() {
  return absl::StrFormat("%-30s %-7s %10s %9s %9s %6s  %s\n", "CANDIDATE", "WORKERS", "KNEE/S",
                         "P50", "P99", "BATCH", "NOTE");
}

std::string TrialLine(const Trial& trial) {
  std::string rate = "-";
  std::string p50 = "-";
  std::string p99 = "-";
  std::string batch = "-";
  if (trial.knee) {
    rate = absl::StrFormat("%.1f", trial.rate());
    p50 = LatencyText(trial.knee->p50_ns);
    p99 = LatencyText(trial.knee->p99_ns);
    if (trial.knee->mean_batch > 0) batch = absl::StrFormat("%.1f", trial.knee->mean_batch);
  }
  std::string note;
  if (trial.state != TrialState::kMet) {
    note = absl::StrCat("  ", StateName(trial.state), trial.reason.empty() ? "" : ": ",
                        OneLine(trial.reason));
  }
  return absl::StrFormat("%-30s %-7s %10s %9s %9s %6s%s\n", CandidateText(trial.candidate),
                         WorkersText(trial), rate, p50, p99, batch, note);
}

std::string BestText(const TuneReport& report) {
  MPSD_CHECK(report.best.has_value());
  std::string text =
      absl::StrFormat("\nbest: %s: %.1f a second at %s", CandidateText(report.best->candidate),
                      report.best->rate(), SloText(report.slo));
  const auto configured = std::find_if(
      report.trials.rbegin(), report.trials.rend(),
      [&](const Trial& trial) { return trial.candidate == report.trials.front().candidate; });
  if (configured->candidate == report.best->candidate) {
    absl::StrAppend(&text, "; no other is better by more than ", tune::TunePlan::kWorthwhile * 100,
                    " %");
  } else if (configured->knee) {
    absl::StrAppendFormat(&text, ", %.2f times what it serves as configured",
                          report.best->rate() / configured->rate());
  }
  absl::StrAppend(&text, "\n");
  if (report.others > 0) {
    absl::StrAppend(&text, "measured alone: the other models of the config (", report.others,
                    ") take cores and memory too\n");
  }
  if (!report.changes.empty()) {
    absl::StrAppend(&text, "\nin ", report.config, " the stanza of '", report.model, "' gets:\n",
                    report.changes.dump(2), "\n");
  }
  if (!report.output.empty()) {
    absl::StrAppend(&text, report.output, " is written; mpsd serve --config ", report.output, "\n");
  } else if (!report.changes.empty()) {
    absl::StrAppend(&text, "--output FILE writes the whole config\n");
  }
  return text;
}

std::string VerifiedText(const TuneReport& report) {
  MPSD_CHECK(report.best && report.best->knee && report.verified);
  const LoadPoint& seen = *report.verified;
  return absl::StrFormat(
      "\nverified with %.1f requests a second, %.1f of the knee:\n"
      "  expected  %.1f answered, %s; at the knee p50 %s, p99 %s\n"
      "  seen      %s\n"
      "%s %s\n",
      seen.load.rate, seen.load.rate / report.best->rate(), seen.load.rate, SloText(report.slo),
      LatencyText(report.best->knee->p50_ns), LatencyText(report.best->knee->p99_ns),
      PointText(seen), SloText(report.slo),
      seen.meets_slo ? "holds" : "DOES NOT HOLD; longer --seconds find a steadier knee");
}

std::string TuneJson(const TuneReport& report) {
  ordered_json json = {{"model", report.model},
                       {"config", report.config},
                       {"cores", report.cores},
                       {"other_models", report.others}};
  json["slo"] = {{"quantile", report.slo.quantile},
                 {"bound_ms", static_cast<double>(report.slo.bound_ns) / kNsPerMs}};
  json["candidates"] = ordered_json::array();
  json["best"] = nullptr;
  for (const Trial& trial : report.trials) {
    if (report.best && trial.candidate == report.best->candidate) {
      json["best"] = json["candidates"].size();
    }
    json["candidates"].push_back(TrialJson(trial));
  }
  json["changes"] = report.best ? report.changes : ordered_json(nullptr);
  json["output"] = report.output.empty() ? ordered_json(nullptr) : ordered_json(report.output);
  json["verified"] = nullptr;
  if (report.verified) {
    json["verified"] = bench::PointJson(*report.verified);
    json["verified"]["meets_slo"] = report.verified->meets_slo;
  }
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mpsd::cli
