// BarsReport: the results of the bars, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "load_tests/bars/bar_outcome.h"
#include "load_tests/bars/bar_plan.h"
#include "nlohmann/json.hpp"

namespace mpsd::load {

// In the order in which the bars ran. Thread-compatible.
class BarsReport {
 public:
  explicit BarsReport(const BarsOptions& options) : options_(options) {}

  // Adds the joint outcome of the bar's processes, or the reason why there is none.
  void Add(const PlannedBar& bar, const absl::StatusOr<BarOutcome>& outcome);

  bool passed() const;

  // The table's line for the last bar.
  static std::string Header();
  std::string LastLine() const;

  // `system` is this host's name for its system.
  nlohmann::ordered_json Json(const std::string& system) const;

 private:
  struct Entry {
    std::string name;
    uint32_t processes = 1;
    uint32_t lanes = 1;
    uint64_t wanted = 0;  // warm; 0: as many as the time allows
    std::string series;
    uint32_t count = 1;
    std::optional<BarOutcome> outcome;
    std::string why;   // empty: the bar passed
    double ratio = 0;  // to the first rate of its series; 0: no series
  };

  double RatioOf(const Entry& entry) const;

  const BarsOptions options_;
  std::vector<Entry> entries_;
};

}  // namespace mpsd::load
