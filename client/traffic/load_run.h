// LoadPlan, RunLoad and LoadResult: one run of the load generator, from connecting to the merged
// counts.
//
//   connect ──▶ warm-up ──▶ window ──▶ drain ──▶ LoadResult
//               only errors            takes what is
//               count                  still to come
//
// A closed loop keeps a number of requests open: each answer sends the next request. An open loop
// keeps to send times drawn beforehand. Its latencies count from these times, so a slow server
// cannot hide its queue.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/traffic/answer_check.h"
#include "client/traffic/arrival_plan.h"
#include "client/traffic/latency_histogram.h"
#include "client/traffic/process_usage.h"
#include "client/traffic/request_set.h"
#include "client/traffic/timeline.h"

namespace mpsd::traffic {

class Pump;

// A process whose cost the report shows under this name.
struct WatchedProcess {
  std::string name;
  pid_t pid = 0;
};

// The rates that command lines take, in calls a second.
inline constexpr double kMinRate = 1e-3;
inline constexpr double kMaxRate = 1e7;

// The plan of a run. Constant while it runs; all threads read it.
struct LoadPlan {
  std::string target = "127.0.0.1:8001";  // or "unix:/path"
  std::string method = "/inference.GRPCInferenceService/ModelInfer";
  std::string stream_method = "/inference.GRPCInferenceService/ModelStreamInfer";
  client::ConnectOptions connection;  // TLS and token; calls are not repeated
  uint32_t threads = 1;
  uint32_t channels = 1;
  uint32_t concurrency = 1;  // closed loop: number of open calls
  uint32_t streams = 0;      // closed loop: requests go over this many streams; 0: unary calls
  ArrivalPlan arrivals;      // open loop; without a rate the loop is closed
  uint32_t outstanding_max = 8192;  // open loop: calls open at once, of all threads
  uint64_t seed = 1;
  uint64_t request_count = 0;  // closed loop: ends after this many; 0: by time alone
  int64_t connect_ns = 10'000'000'000;
  int64_t warmup_ns = 0;
  int64_t duration_ns = 0;
  int64_t drain_ns = 0;     // how long open calls may take after the end
  int64_t deadline_ns = 0;  // each call's deadline; 0: none
  int64_t slo_ns = 0;       // goodput counts answers within it; 0: every right answer
  int64_t timeline_ns = 0;  // length of the timeline's spans; 0: no timeline
  Expectation expectation = Expectation::kSameSize;
  std::vector<WatchedProcess> watched;
};

// The counts of one thread, for requests that were sent, or due, inside the window.
struct LoadCounts {
  LatencyHistogram latency;         // right answers, from the intended send time
  LatencyHistogram lateness;        // open loop: actual minus intended send time of sent requests
  uint64_t intended = 0;            // open loop: due inside the window
  uint64_t good = 0;                // open loop: due inside, answered right within the SLO
  uint64_t answered_in_window = 0;  // right answers that arrived inside the window
  uint64_t good_in_window = 0;      // right answers within the SLO that arrived inside
  uint64_t ended_in_window = 0;     // calls that ended inside the window, with any outcome
  uint64_t wrong = 0;               // OK by status, wrong by content; answers to no request
  uint64_t not_sent = 0;            // open loop: due but not sent, see CallPump
  std::map<int, uint64_t> errors;   // by gRPC code
  Timeline timeline;

  void Merge(const LoadCounts& other);
};

// The usage of a watched process.
struct WatchedUsage {
  std::string name;
  ProcessUsage used;  // inside the window
};

// The result of a run: the merged counts of all threads, and the processes' usage.
struct LoadResult {
  LoadCounts counts;
  double window_seconds = 0;
  ProcessUsage client;
  std::vector<WatchedUsage> watched;
};

// Whether every call was sent and got a right answer without an error. If not, do not believe the
// figures. Pure.
bool AllRight(const LoadResult& result);

// Makes the pump of one of the plan's threads, connected. UNAVAILABLE when it cannot connect.
using PumpMaker = std::function<absl::StatusOr<std::unique_ptr<Pump>>(uint32_t thread)>;

// Blocks until the run is over: at most the plan's times for connecting, warm-up, duration and
// draining together. UNAVAILABLE if it cannot connect to the target. The result counts failed
// calls; they do not make the status an error.
absl::StatusOr<LoadResult> RunLoad(const LoadPlan& plan,
                                   const std::vector<PreparedRequest>& requests);

// The same with pumps of the caller's kind.
absl::StatusOr<LoadResult> RunLoadWith(const LoadPlan& plan, const PumpMaker& make_pump);

}  // namespace mpsd::traffic
