#include "load_tests/bars/bars_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace mpsd::load {
namespace {

// Empty if the bar passed.
std::string FaultOf(const BarOutcome& outcome, uint64_t wanted) {
  const RunCounts counts = outcome.all();
  if (counts.faults() > 0) {
    return absl::StrCat(counts.wrong, " wrong, ", counts.failed, " failed: ", outcome.first_fault);
  }
  if (counts.warm < wanted) {
    return absl::StrCat("the time was over after ", counts.warm, " of ", wanted, " operations");
  }
  return counts.warm == 0 ? "nothing ran" : "";
}

absl::string_view VerdictOf(const std::string& why) { return why.empty() ? "PASS" : "FAIL"; }

}  // namespace

void BarsReport::Add(const PlannedBar& bar, const absl::StatusOr<BarOutcome>& outcome) {
  Entry entry;
  entry.name = bar.name;
  entry.processes = bar.processes;
  entry.lanes = bar.lanes.lanes;
  entry.wanted = bar.lanes.operations;
  entry.series = bar.series;
  entry.count = bar.count();
  if (outcome.ok()) {
    entry.outcome = *outcome;
    entry.why = FaultOf(*outcome, entry.wanted);
    entry.ratio = RatioOf(entry);
  } else {
    entry.why = std::string(outcome.status().message());
  }
  entries_.push_back(std::move(entry));
}

double BarsReport::RatioOf(const Entry& entry) const {
  if (entry.series.empty()) return 0;
  const auto first = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& other) { return other.series == entry.series; });
  if (first == entries_.end()) return 1;
  if (!first->outcome.has_value() || first->outcome->rate <= 0) return 0;
  return entry.outcome->rate / first->outcome->rate;
}

bool BarsReport::passed() const {
  return !entries_.empty() && std::all_of(entries_.begin(), entries_.end(),
                                          [](const Entry& entry) { return entry.why.empty(); });
}

std::string BarsReport::Header() {
  return absl::StrFormat("%-24s %-7s %10s %6s %6s %10s %8s %10s %6s", "bar", "verdict",
                         "operations", "wrong", "failed", "other bits", "seconds", "a second",
                         "ratio");
}

std::string BarsReport::LastLine() const {
  const Entry& entry = entries_.back();
  const BarOutcome outcome = entry.outcome.value_or(BarOutcome());
  const RunCounts counts = outcome.all();
  std::string line = absl::StrFormat(
      "%-24s %-7s %10d %6d %6d %10d %8.1f %10.0f %6s", entry.name, VerdictOf(entry.why),
      counts.cold + counts.warm, counts.wrong, counts.failed, counts.other_bits, outcome.seconds,
      outcome.rate, entry.ratio > 0 ? absl::StrFormat("%.2f", entry.ratio) : "");
  if (!entry.why.empty()) absl::StrAppend(&line, "\n    ", entry.why);
  return line;
}

nlohmann::ordered_json BarsReport::Json(const std::string& system) const {
  nlohmann::ordered_json bars = nlohmann::ordered_json::array();
  nlohmann::ordered_json host;
  for (const Entry& entry : entries_) {
    nlohmann::ordered_json bar = {{"name", entry.name},
                                  {"verdict", VerdictOf(entry.why)},
                                  {"processes", entry.processes},
                                  {"lanes", entry.lanes},
                                  {"wanted", entry.wanted}};
    if (!entry.why.empty()) bar["why"] = entry.why;
    if (entry.outcome.has_value()) {
      nlohmann::ordered_json outcome = ToJson(*entry.outcome);
      host = outcome["host"];
      bar["counts"] = ToJson(entry.outcome->all());
      for (const char* key : {"operators", "seconds", "rate"}) bar[key] = outcome[key];
    }
    if (entry.ratio > 0) {
      bar["ratio"] = entry.ratio;
      bar["efficiency"] = entry.ratio / entry.count;
    }
    bars.push_back(std::move(bar));
  }
  return {{"mpsd", MPSD_VERSION}, {"system", system},      {"wanted_device", options_.device},
          {"host", host},         {"seed", options_.seed}, {"verdict", passed() ? "PASS" : "FAIL"},
          {"bars", bars}};
}

}  // namespace mpsd::load
