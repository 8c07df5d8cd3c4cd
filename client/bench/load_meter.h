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

// How to reach the model, and the requests to send.
struct MeterOptions {
  std::string address;
  client::ConnectOptions connection;
  std::string model;
  RequestWishes requests;
  absl::Duration timeout = absl::Seconds(30);  // for the metadata, and for each call for counts
};

// How long a search measures a rate: `duration`, or the time in which 20 requests are due if that
// is longer. The limit is ten seconds, or `duration` if longer. FAILED_PRECONDITION if 20 requests
// need more. Pure.
absl::StatusOr<absl::Duration> KneeWindow(double rate, absl::Duration duration);

// Owned by a verb. Lives on one thread. A run has threads of its own, which end before it returns.
class LoadMeter {
 public:
  // Connects, asks for the model's inputs and encodes the requests. UNAVAILABLE if no server is
  // reachable, INVALID_ARGUMENT if the wishes do not fit the model, else the server's error.
  static absl::StatusOr<std::unique_ptr<LoadMeter>> Connect(const MeterOptions& options);

  // Loads the server for `duration`, after a warm-up of a fifth of that, which does not count.
  // Waits up to ten seconds for the last answers. `slo` may be null. UNAVAILABLE if it cannot
  // connect. Failed requests are figures of the point and no error.
  absl::StatusOr<LoadPoint> Measure(const Load& load, absl::Duration duration, const Slo* slo);

  // Tries the rates of `search`, each for its KneeWindow(), until the search is over or `go_on`
  // returns false. Calls `seen` with every point. Returns the point of the knee, or none if no rate
  // meets the SLO. FAILED_PRECONDITION if a rate has too few requests to tell.
  absl::StatusOr<std::optional<LoadPoint>> FindKnee(
      const Slo& slo, KneeSearch* search, absl::Duration duration,
      const std::function<bool()>& go_on, const std::function<void(const LoadPoint&)>& seen);

 private:
  LoadMeter(MeterOptions options, std::unique_ptr<LoadTarget> target,
            std::vector<traffic::PreparedRequest> requests);

  // The model's counts; always equal if the server does not tell.
  client::ModelRuns Runs();

  const MeterOptions options_;
  const std::unique_ptr<LoadTarget> target_;
  const std::vector<traffic::PreparedRequest> requests_;
};

}  // namespace mpsd::bench
