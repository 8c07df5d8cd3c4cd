// load_run: one run of the load generator, from connecting to the merged counts.
//
//   connect ──▶ warm-up ──▶ window ──▶ drain ──▶ LoadResult
//               only errors            takes what is
//               count                  still to come
//
// In a closed loop each answer sends the next request. An open loop keeps to times drawn
// beforehand, from which its latencies count, so a slow server cannot hide its queue.
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

// The report shows its cost under this name.
struct WatchedProcess {
  std::string name;
  pid_t pid = 0;
};

// Bounds of command lines, in calls a second.
inline constexpr double kMinRate = 1e-3;
inline constexpr double kMaxRate = 1e7;

// Constant while it runs; all threads read it.
struct LoadPlan {
  std::string target = "127.0.0.1:8001";  // or "unix:/path"
  std::string method = "/inference.GRPCInferenceService/ModelInfer";
  std::string stream_method = "/inference.GRPCInferenceService/ModelStreamInfer";
  client::ConnectOptions connection;  // calls are not repeated
  uint32_t threads = 1;
  uint32_t channels = 1;
  uint32_t concurrency = 1;         // closed loop: open calls
  uint32_t streams = 0;             // closed loop: requests go over these; 0: unary calls
  ArrivalPlan arrivals;             // without a rate the loop is closed
  uint32_t outstanding_max = 8192;  // open loop: open calls of all threads
  uint64_t seed = 1;
  uint64_t request_count = 0;  // closed loop: ends after this many; 0: by time alone
  int64_t connect_ns = 10'000'000'000;
  int64_t warmup_ns = 0;
  int64_t duration_ns = 0;
  int64_t drain_ns = 0;     // for open calls after the end
  int64_t deadline_ns = 0;  // each call's deadline; 0: none
  int64_t slo_ns = 0;       // goodput counts answers within it; 0: every right one
  int64_t timeline_ns = 0;  // length of the timeline's spans; 0: no timeline
  Expectation expectation = Expectation::kSameSize;
  std::vector<WatchedProcess> watched;
};

// One thread's, for requests that were sent, or due, inside the window.
struct LoadCounts {
  LatencyHistogram latency;         // right answers, from the intended time
  LatencyHistogram lateness;        // open loop: actual minus intended time
  uint64_t intended = 0;            // open loop: due inside the window
  uint64_t good = 0;                // open loop: due inside, right within the SLO
  uint64_t answered_in_window = 0;  // right, arrived inside
  uint64_t good_in_window = 0;      // right within the SLO, arrived inside
  uint64_t ended_in_window = 0;     // calls that ended inside, with any outcome
  uint64_t wrong = 0;               // OK by status, wrong by content; answers to no request
  uint64_t not_sent = 0;            // open loop: due, see CallPump
  std::map<int, uint64_t> errors;   // by gRPC code
  Timeline timeline;

  void Merge(const LoadCounts& other);
};

struct WatchedUsage {
  std::string name;
  ProcessUsage used;  // inside the window
};

struct LoadResult {
  LoadCounts counts;
  double window_seconds = 0;
  ProcessUsage client;
  std::vector<WatchedUsage> watched;
};

// Every call was sent and got a right answer. Otherwise do not believe the figures. Pure.
bool AllRight(const LoadResult& result);

// Makes a connected pump for one of the plan's threads. UNAVAILABLE when it cannot connect.
using PumpMaker = std::function<absl::StatusOr<std::unique_ptr<Pump>>(uint32_t thread)>;

// Blocks for the plan's times at most. UNAVAILABLE if it cannot connect; failed calls are only
// counted.
absl::StatusOr<LoadResult> RunLoad(const LoadPlan& plan,
                                   const std::vector<PreparedRequest>& requests);

absl::StatusOr<LoadResult> RunLoadWith(const LoadPlan& plan, const PumpMaker& make_pump);

}  // namespace mpsd::traffic
