// RowRate: how many rows a tenant may ask for.
#pragma once

#include <cstdint>

namespace mpsd {

struct RowRate {
  uint32_t rows_per_second = 0;  // 0: any
  uint32_t burst_rows = 0;       // at once, after a pause; not 0 if there is a rate

  bool operator==(const RowRate&) const = default;
};

inline constexpr uint32_t kMaxRowRate = 1'000'000;  // for both

}  // namespace mpsd
