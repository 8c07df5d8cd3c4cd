// SyntheticOptions: what a synthetic model was told to do, read from its parameters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// The `…_if` values are compared with the first element of a row's first input; by a model that
// repeats, with the element that it is about to answer.
struct SyntheticOptions {
  int64_t delay_ns = 0;            // each batch takes at least this
  int64_t delay_per_row_ns = 0;    // and this for each of its rows
  uint32_t lane_delay_factor = 0;  // lane n takes delay_ns n times this, and once at least
  std::optional<double> fail_if;   // the row fails, its batch-mates do not
  std::optional<double> throw_if;  // the batch fails, as if the model had thrown
  std::optional<double> crash_if;  // the process dies
  std::optional<double> hang_if;   // the lane never returns
  int64_t load_delay_ns = 0;
  bool fail_at_load = false;
  bool crash_at_load = false;
  bool repeat = false;  // it is a RepeatingModel

  // INVALID_ARGUMENT names the parameter at fault. "vocab" is for the clients and is passed over.
  static absl::StatusOr<SyntheticOptions> Parse(
      const std::map<std::string, std::string>& parameters);

  // What a batch of so many rows takes on that lane. Pure.
  int64_t DelayNs(uint32_t lane, uint32_t row_count) const;
};

}  // namespace mpsd
