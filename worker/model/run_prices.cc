#include "worker/model/run_prices.h"

#include <algorithm>

namespace mpsd {
namespace {

// A recorded run may cost this many times an unrecorded one, because a new row count is slow at
// first: libraries choose and load kernels, for tenths of a second.
constexpr double kNewSizeFactor = 2;

// Interpolates between the costs of `below` and `above`.
double PlainNs(const RunPrice& below, const RunPrice& above, uint32_t rows) {
  const double part = static_cast<double>(rows - below.rows) / (above.rows - below.rows);
  const auto from = static_cast<double>(below.plain_ns);
  return from + part * (static_cast<double>(above.plain_ns) - from);
}

}  // namespace

std::optional<size_t> CheapestRecord(absl::Span<const RunPrice> prices, uint32_t rows) {
  const auto above =
      std::lower_bound(prices.begin(), prices.end(), rows,
                       [](const RunPrice& price, uint32_t wanted) { return price.rows < wanted; });
  if (above == prices.end()) return std::nullopt;
  const size_t index = above - prices.begin();
  // A batch smaller than the smallest record is priced as that record.
  const bool is_cheap =
      above->rows == rows || above == prices.begin() ||
      static_cast<double>(above->replayed_ns) <= kNewSizeFactor * PlainNs(above[-1], *above, rows);
  return is_cheap ? std::optional(index) : std::nullopt;
}

}  // namespace mpsd
