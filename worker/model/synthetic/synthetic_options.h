// SyntheticOptions: the behaviour that a synthetic model's parameters ask for.
//
//   "parameters": {"delay": "5ms", "throw_if": "13"}
//
// The keys are the members' names without their units, such as `delay_per_row`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// The `…_if` values are compared with the first element of a row's first input. Without any such
// value inputs are not looked at. Constant once parsed.
struct SyntheticOptions {
  int64_t delay_ns = 0;            // least time of each batch
  int64_t delay_per_row_ns = 0;    // additional time for each row of a batch
  uint32_t lane_delay_factor = 0;  // lane n takes n times delay_ns; lane 0 takes delay_ns
  std::optional<double> fail_if;   // the row fails, but not the other rows of its batch
  std::optional<double> throw_if;  // the batch fails, as if the model had thrown
  std::optional<double> crash_if;  // the process dies
  std::optional<double> hang_if;   // the lane never returns
  int64_t load_delay_ns = 0;       // loading takes this time
  bool fail_at_load = false;       // loading fails, with INTERNAL
  bool crash_at_load = false;      // the process dies while it loads
  uint64_t weights = 0;            // bytes of weights, which the model's workers share
  bool repeat = false;             // the model is a RepeatingModel
  bool encode = false;             // the model is a SyntheticEncoder

  // INVALID_ARGUMENT names an unknown key, with the nearest one, or a text that is no duration,
  // number, "true" or "false". "vocab" is for clients and is ignored. Pure.
  static absl::StatusOr<SyntheticOptions> Parse(
      const std::map<std::string, std::string>& parameters);

  // INT64_MAX on overflow. Pure.
  int64_t DelayNs(uint32_t lane, uint32_t row_count) const;
};

}  // namespace mpsd
