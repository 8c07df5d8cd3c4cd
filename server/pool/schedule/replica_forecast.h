// ReplicaForecast: how many hosts like this one the offered requests of a model need.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/pool/schedule/latency_curve.h"

namespace mpsd {

// The rows a second that `lanes` lanes answer while 99 of 100 requests take at most `slo_ns`.
// Requests of `request_rows` rows come at random. A batch has at most `most_rows` rows, and no more
// than were seen together. If even a batch that waits for nothing takes longer than `slo_ns`, more
// hosts do not help. Then this is what the lanes can do at most. Pure. REQUIRES: curve.known(), and
// nothing is 0.
double RowsPerSecondWithin(int64_t slo_ns, const LatencyCurve& curve, double request_rows,
                           uint32_t most_rows, uint32_t lanes);

// The rows a second that busy lanes answer. The rest is as above.
double RowsPerSecond(const LatencyCurve& curve, double request_rows, uint32_t most_rows,
                     uint32_t lanes);

// Learns the offered rows of each shape, refused ones too. A row counts for 1/e after kWindowNs.
// Owned by a pool. Thread-compatible: guarded by the pool's mutex. It reads no clock.
class ReplicaForecast {
 public:
  static constexpr int64_t kWindowNs = 15'000'000'000;

  // Shares of a host, such as 0.3 or 2.5, so that those of several hosts can be added up. Negative
  // while not known: without lanes, a request, or a batch.
  struct Needs {
    double load = -1;      // if the lanes may be busy all the time
    double replicas = -1;  // within the SLO; not known without one
  };

  // `slo_ns` is what 99 of 100 requests may take; 0: any time.
  explicit ReplicaForecast(int64_t slo_ns) : slo_ns_(slo_ns) {}

  // A request has come. The curve of its shape outlives the forecast.
  void Arrived(const LatencyCurve* curve, uint32_t rows, uint32_t most_rows) {
    Offer* offer = &offers_[curve];
    offer->requests += 1;
    offer->rows += rows;
    offer->most_rows = most_rows;
  }

  // Called regularly, often within a window. `now_ns` never falls.
  Needs At(int64_t now_ns, uint32_t lanes);

 private:
  // The offered requests of one shape. Both sums count less with time.
  struct Offer {
    double requests = 0;
    double rows = 0;
    uint32_t most_rows = 1;
  };

  double WindowSeconds(int64_t now_ns) const;

  const int64_t slo_ns_;
  int64_t first_ns_ = 0;                                    // the first call of At(); 0: none yet
  int64_t faded_ns_ = 0;                                    // the latest one
  absl::flat_hash_map<const LatencyCurve*, Offer> offers_;  // as many as there are curves
};

}  // namespace mpsd
