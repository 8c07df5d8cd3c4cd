// ReplicaForecast: how many hosts like this one the offered requests of a model need.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/pool/schedule/latency_curve.h"

namespace mpsd {

// The rows a second that `lanes` lanes answer while 99 of 100 requests take at most `slo_ns`.
// Requests come at random. A batch has no more rows than were seen together. If even a batch that
// waits for nothing takes longer than `slo_ns`, more hosts do not help: this is what the lanes can
// do at most. Pure. REQUIRES: curve.known(), and nothing is 0.
double RowsPerSecondWithin(int64_t slo_ns, const LatencyCurve& curve, double request_rows,
                           uint32_t most_rows, uint32_t lanes);

// The same for lanes that are always busy.
double RowsPerSecond(const LatencyCurve& curve, double request_rows, uint32_t most_rows,
                     uint32_t lanes);

// Learns the offered rows of each shape, refused ones too. A row counts for 1/e after kWindowNs.
// Thread-compatible: its pool's mutex guards it.
class ReplicaForecast {
 public:
  static constexpr int64_t kWindowNs = 15'000'000'000;

  // Shares of a host, such as 0.3 or 2.5, which may be added up. Negative while not known.
  struct Needs {
    double load = -1;      // if the lanes may always be busy
    double replicas = -1;  // within the SLO; not known without one
  };

  // With `slo_ns` 0 a request may take any time.
  explicit ReplicaForecast(int64_t slo_ns) : slo_ns_(slo_ns) {}

  // The curve outlives the forecast.
  void Arrived(const LatencyCurve* curve, uint32_t rows, uint32_t most_rows) {
    Offer* offer = &offers_[curve];
    offer->requests += 1;
    offer->rows += rows;
    offer->most_rows = most_rows;
  }

  // Called often within a window. `now_ns` never falls.
  Needs At(int64_t now_ns, uint32_t lanes);

 private:
  struct Offer {
    double requests = 0;
    double rows = 0;
    uint32_t most_rows = 1;
  };

  double WindowSeconds(int64_t now_ns) const;

  const int64_t slo_ns_;
  int64_t first_ns_ = 0;                                    // 0: none yet
  int64_t faded_ns_ = 0;                                    // latest call of At()
  absl::flat_hash_map<const LatencyCurve*, Offer> offers_;  // one per curve
};

}  // namespace mpsd
