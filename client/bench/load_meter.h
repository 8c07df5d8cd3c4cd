// LoadMeter: measures what one model of a running server bears.
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
#include "client/bench/slo.h"
#include "client/client.h"
#include "client/traffic/request_set.h"

namespace mpsd::bench {

// How to reach the model, and with which requests.
struct MeterOptions {
  std::string address;
  client::ConnectOptions connection;
  std::string model;
  RequestWishes requests;
  absl::Duration timeout = absl::Seconds(30);  // of metadata and counts, each
};

// How long a rate is measured in a search: `duration`, or as long as 20 requests take, but ten
// seconds at most where `duration` is less. FAILED_PRECONDITION where even that is too short. Pure.
absl::StatusOr<absl::Duration> KneeWindow(double rate, absl::Duration duration);

// Owned by a verb. Lives on one thread; a run has threads of its own, which have ended when it
// returns.
class LoadMeter {
 public:
  // Connects, asks for the model's inputs and encodes the requests. UNAVAILABLE when no server is
  // reachable, INVALID_ARGUMENT when the wishes do not fit the model, else the server's error.
  static absl::StatusOr<std::unique_ptr<LoadMeter>> Connect(const MeterOptions& options);

  // Loads the server for `duration`, after a fifth of that which does not count, and waits up to
  // ten seconds for the last answers. `slo` may be null. UNAVAILABLE when it cannot connect; failed
  // requests are figures of the point and no error.
  absl::StatusOr<LoadPoint> Measure(const Load& load, absl::Duration duration, const Slo* slo);

  // Tries the rates of `search` until it is over or `go_on` says no, each for its KneeWindow().
  // `seen` gets every point. Returns the point of the knee, none when no rate meets the SLO.
  // FAILED_PRECONDITION when it comes to a rate of too few requests to say whether it does.
  absl::StatusOr<std::optional<LoadPoint>> FindKnee(
      const Slo& slo, KneeSearch* search, absl::Duration duration,
      const std::function<bool()>& go_on, const std::function<void(const LoadPoint&)>& seen);

 private:
  LoadMeter(MeterOptions options, std::unique_ptr<client::Client> client,
            std::vector<traffic::PreparedRequest> requests);

  // The model's counts; equal ones where the server does not tell.
  client::ModelRuns Runs();

  const MeterOptions options_;
  const std::unique_ptr<client::Client> client_;
  const std::vector<traffic::PreparedRequest> requests_;
};

}  // namespace mpsd::bench
