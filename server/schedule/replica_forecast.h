// ReplicaForecast: how many hosts like this one the offered requests of a model need.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/schedule/latency_curve.h"

namespace mpsd {

// The rows a second that `lanes` lanes answer while 99 of 100 requests take at most `slo_ns`.
// Requests of `request_rows` rows come at random. A batch has at most `most_rows` rows, and no more
// than were seen together. If even a batch that waits for nothing takes longer than `slo_ns`, more
// hosts do not help. Then this is what the lanes can do at most. Pure. REQUIRES: curve.known(), and
// nothing is 0.
double RowsPerSecondWithin(int64_t slo_ns, const LatencyCurve& curve, double request_rows,
                           uint32_t most_rows, uint32_t lanes);

// Learns the offered rows of each shape, refused ones too. A need is a share of a host, such as
// 0.3 or 2.5, so that the needs of several hosts can be added up. A row counts for 1/e after
// kWindowNs. Owned by a pool; without an SLO it does nothing. Thread-compatible: guarded by the
// pool's mutex. It reads no clock.
class ReplicaForecast {
 public:
  static constexpr int64_t kWindowNs = 15'000'000'000;

  // `slo_ns` is what 99 of 100 requests may take; 0: any time.
  explicit ReplicaForecast(int64_t slo_ns) : slo_ns_(slo_ns) {}

  // A request has come. The curve of its shape outlives the forecast. `now_ns` never falls.
  void Arrived(const LatencyCurve* curve, uint32_t rows, uint32_t most_rows, int64_t now_ns);

  // Negative while not known: without an SLO, lanes, a request, or a batch.
  double At(int64_t now_ns, uint32_t lanes) const;

 private:
  // The offered requests of one shape.
  struct Offer {
    double requests = 0;  // each counts less with time
    double rows = 0;      // the same
    int64_t since_ns = 0;
    uint32_t most_rows = 1;
  };

  const int64_t slo_ns_;
  int64_t first_ns_ = 0;                                    // when the first request came
  absl::flat_hash_map<const LatencyCurve*, Offer> offers_;  // as many as there are curves
};

}  // namespace mpsd
