// BarsReport: what became of the bars, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "load_tests/bars/bar_outcome.h"
#include "load_tests/bars/bar_plan.h"
#include "nlohmann/json.hpp"

namespace mpsd::load {

// Collects outcomes in the order in which the bars ran. Pure. Thread-compatible.
class BarsReport {
 public:
  explicit BarsReport(const BarsOptions& options) : options_(options) {}

  // Takes what all processes of the bar did together, or why there is no outcome.
  void Add(const PlannedBar& bar, const absl::StatusOr<BarOutcome>& outcome);

  // Whether there was a bar, and none failed.
  bool passed() const;

  // A line of the table: the last bar's. Header() stands above it.
  static std::string Header();
  std::string LastLine() const;

  // `system` is this host's, as it names itself.
  nlohmann::ordered_json Json(const std::string& system) const;

 private:
  struct Entry {
    std::string name;
    uint32_t processes = 1;
    uint32_t lanes = 1;
    uint64_t wanted = 0;  // warm operations; 0: as many as the time allows
    std::string series;
    uint32_t count = 1;
    std::optional<BarOutcome> outcome;
    std::string why;   // it failed; empty: it passed
    double ratio = 0;  // of its rate to that of the first of its series; 0: of none
  };

  double RatioOf(const Entry& entry) const;

  const BarsOptions options_;
  std::vector<Entry> entries_;
};

}  // namespace mpsd::load
