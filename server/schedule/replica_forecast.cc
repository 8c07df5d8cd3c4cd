#include "server/schedule/replica_forecast.h"

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
// the requests in front of it (Kingman's formula). If batches have several rows, it then waits for
// the next start of a lane. At last its own batch runs.
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

double Fade(int64_t took_ns) {
  return std::exp(-static_cast<double>(took_ns) / static_cast<double>(ReplicaForecast::kWindowNs));
}

}  // namespace

double RowsPerSecondWithin(int64_t slo_ns, const LatencyCurve& curve, double request_rows,
                           uint32_t most_rows, uint32_t lanes) {
  const auto least = static_cast<uint32_t>(std::ceil(request_rows));
  const uint32_t most = std::max(least, std::min(most_rows, curve.MostRows()));
  double within = 0;
  double at_most = 0;
  for (uint32_t rows = least;; rows = std::min(2 * rows, most)) {
    const double mean_ns = std::max<double>(static_cast<double>(curve.MeanNs(rows)), 1);
    const double rate = rows * kNsInS / mean_ns * lanes;
    within = std::max(within, rate * MostBusyShare(slo_ns, curve, request_rows, rows, lanes));
    at_most = std::max(at_most, rate * kMostBusy);
    if (rows == most) break;
  }
  return within > 0 ? within : at_most;
}

void ReplicaForecast::Arrived(const LatencyCurve* curve, uint32_t rows, uint32_t most_rows,
                              int64_t now_ns) {
  if (slo_ns_ == 0) return;
  if (offers_.empty()) first_ns_ = now_ns;
  Offer* offer = &offers_[curve];
  const double kept = Fade(now_ns - offer->since_ns);
  offer->requests = offer->requests * kept + 1;
  offer->rows = offer->rows * kept + rows;
  offer->since_ns = now_ns;
  offer->most_rows = most_rows;
}

double ReplicaForecast::At(int64_t now_ns, uint32_t lanes) const {
  if (lanes == 0) return -1;
  // Until a window has passed, the sums are those of the time since the first request.
  const double seen_ns = std::max<double>(static_cast<double>(now_ns - first_ns_), kNsInS);
  const double window_s = static_cast<double>(kWindowNs) / kNsInS *
                          (1 - std::exp(-seen_ns / static_cast<double>(kWindowNs)));
  double need = -1;
  for (const auto& [curve, offer] : offers_) {
    if (!curve->known()) continue;
    const double rows_per_s = offer.rows * Fade(now_ns - offer.since_ns) / window_s;
    need = std::max(need, 0.0) + rows_per_s / RowsPerSecondWithin(slo_ns_, *curve,
                                                                  offer.rows / offer.requests,
                                                                  offer.most_rows, lanes);
  }
  return need;
}

}  // namespace mpsd
