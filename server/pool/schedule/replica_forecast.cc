#include "server/pool/schedule/replica_forecast.h"

#include <algorithm>
#include <cmath>

namespace mpsd {
namespace {

constexpr double kNsInS = 1e9;
// A wait that is exponentially distributed exceeds so many times its mean once in 100.
constexpr double kTail = 4.605;
// Variation of a batch's time, as the square of its deviation's share.
constexpr double kBatchVariation = 0.05;
// Lanes are never busier than this.
constexpr double kMostBusy = 0.95;

// The share of their time that lanes may be busy with batches of `rows` rows. A request waits for
// those in front (Kingman's formula), then for the next start of a lane, then for its own batch.
double MostBusyShare(int64_t slo_ns, const LatencyCurve& curve, double request_rows, uint32_t rows,
                     uint32_t lanes) {
  const double interval_ns = static_cast<double>(curve.MeanNs(rows)) / lanes;
  const double forming_ns = rows > request_rows ? interval_ns : 0;
  const double room_ns =
      static_cast<double>(slo_ns) - static_cast<double>(curve.LateNs(rows)) - forming_ns;
  if (room_ns <= 0) return 0;
  const double variation = (request_rows / rows + kBatchVariation) / 2;
  return std::clamp(1 - kTail * variation * interval_ns / room_ns, 0.0, kMostBusy);
}

// Calls `visit` with sizes of batches, and the rows a second that lanes answer in such batches.
template <typename Visit>
void ForEachBatch(const LatencyCurve& curve, double request_rows, uint32_t most_rows,
                  uint32_t lanes, Visit visit) {
  const auto least = static_cast<uint32_t>(std::ceil(request_rows));
  const uint32_t most = std::max(least, std::min(most_rows, curve.MostRows()));
  for (uint32_t rows = least;; rows = std::min(2 * rows, most)) {
    const double mean_ns = std::max<double>(static_cast<double>(curve.MeanNs(rows)), 1);
    visit(rows, rows * kNsInS / mean_ns * lanes);
    if (rows == most) return;
  }
}

}  // namespace

double RowsPerSecondWithin(int64_t slo_ns, const LatencyCurve& curve, double request_rows,
                           uint32_t most_rows, uint32_t lanes) {
  double within = 0;
  ForEachBatch(curve, request_rows, most_rows, lanes, [&](uint32_t rows, double rate) {
    within = std::max(within, rate * MostBusyShare(slo_ns, curve, request_rows, rows, lanes));
  });
  return within > 0 ? within : kMostBusy * RowsPerSecond(curve, request_rows, most_rows, lanes);
}

double RowsPerSecond(const LatencyCurve& curve, double request_rows, uint32_t most_rows,
                     uint32_t lanes) {
  double most = 0;
  ForEachBatch(curve, request_rows, most_rows, lanes,
               [&](uint32_t, double rate) { most = std::max(most, rate); });
  return most;
}

// Until a window has passed, the sums are those of the time since the first call.
double ReplicaForecast::WindowSeconds(int64_t now_ns) const {
  const double windows = std::max<double>(static_cast<double>(now_ns - first_ns_), kNsInS) /
                         static_cast<double>(kWindowNs);
  return static_cast<double>(kWindowNs) / kNsInS * (1 - std::exp(-windows));
}

ReplicaForecast::Needs ReplicaForecast::At(int64_t now_ns, uint32_t lanes) {
  if (first_ns_ == 0) first_ns_ = faded_ns_ = now_ns;
  const double kept =
      std::exp(-static_cast<double>(now_ns - faded_ns_) / static_cast<double>(kWindowNs));
  faded_ns_ = now_ns;
  const double window_s = WindowSeconds(now_ns);
  Needs needs;
  for (auto& [curve, offer] : offers_) {
    offer.requests *= kept;
    offer.rows *= kept;
    if (lanes == 0 || !curve->known() || offer.rows <= 0) continue;
    const double rows_per_s = offer.rows / window_s;
    const double request_rows = offer.rows / offer.requests;
    needs.load = std::max(needs.load, 0.0) +
                 rows_per_s / RowsPerSecond(*curve, request_rows, offer.most_rows, lanes);
    if (slo_ns_ == 0) continue;
    needs.replicas =
        std::max(needs.replicas, 0.0) +
        rows_per_s / RowsPerSecondWithin(slo_ns_, *curve, request_rows, offer.most_rows, lanes);
  }
  return needs;
}

}  // namespace mpsd
