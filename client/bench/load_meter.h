// LoadMeter: measures one model of a running server under load.
//
//   metadata ─▶ requests        Measure(load)  ─▶ LoadPoint          one run
//                               FindKnee(slo)  ─▶ LoadPoint, …       open-loop runs of a KneeSearch
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/bench/bench_inputs.h"
#include "client/bench/knee_search.h"
#include "client/bench/load_point.h"
#include "client/bench/load_target.h"
#include "client/bench/slo.h"
#include "client/client.h"
#include "client/traffic/request_set.h"

namespace mpsd::bench {

struct MeterOptions {
  std::string address;
  client::ConnectOptions connection;
  std::string model;
  RequestWishes requests;
  absl::Duration timeout = absl::Seconds(30);      // for metadata, and each call for counts
  absl::Duration deadline = absl::ZeroDuration();  // a request's own; 0: none
};

// `duration`, or the time in which 20 requests are due if that is longer, at most ten seconds or
// `duration`. FAILED_PRECONDITION if 20 requests need more. Pure.
absl::StatusOr<absl::Duration> KneeWindow(double rate, absl::Duration duration);

// Lives on one thread. A run has threads of its own, which end before it returns.
class LoadMeter {
 public:
  // Asks for the model's inputs and encodes the requests. UNAVAILABLE: no server is reachable.
  // INVALID_ARGUMENT: the wishes do not fit the model. Else the server's error.
  static absl::StatusOr<std::unique_ptr<LoadMeter>> Connect(const MeterOptions& options);

  // A warm-up of a fifth of `duration` comes first and does not count. Waits up to ten seconds for
  // the last answers. `slo` may be null. UNAVAILABLE if it cannot connect. Failed requests are
  // figures.
  absl::StatusOr<LoadPoint> Measure(const Load& load, absl::Duration duration, const Slo* slo);

  // Tries each rate for its KneeWindow(), until the search is over or `go_on` returns false, and
  // calls `seen` with every point. None: no rate meets the SLO. FAILED_PRECONDITION: a rate has too
  // few requests.
  absl::StatusOr<std::optional<LoadPoint>> FindKnee(
      const Slo& slo, KneeSearch* search, absl::Duration duration,
      const std::function<bool()>& go_on, const std::function<void(const LoadPoint&)>& seen);

 private:
  LoadMeter(MeterOptions options, std::unique_ptr<LoadTarget> target,
            std::vector<traffic::PreparedRequest> requests);

  // Always equal if the server does not tell.
  client::ModelRuns Runs();

  const MeterOptions options_;
  const std::unique_ptr<LoadTarget> target_;
  const std::vector<traffic::PreparedRequest> requests_;
};

}  // namespace mpsd::bench
