#include "server/pool/batch/token_budget.h"

#include <algorithm>
#include <optional>

#include "proto/link/token_places.h"

namespace mpsd {

uint32_t TokenBudget::RowsOf(const Request& request) const {
  if (tokens_ == 0) return kAnyRows;
  const std::optional<TokenPlaces> places = FindTokenPlaces(*spec_);
  if (!places.has_value() || request.inputs[places->ids].is_left_out()) return kAnyRows;
  const auto length = static_cast<uint64_t>(request.inputs[places->ids].padded_dims[0]);
  const uint64_t rows = tokens_ / std::max<uint64_t>(1, length);
  return static_cast<uint32_t>(std::clamp<uint64_t>(rows, 1, kAnyRows));
}

}  // namespace mpsd
