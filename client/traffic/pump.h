// Pump: one client thread's part of a run, and helpers for every kind of pump.
//
// A run (load_run.h) has one pump for each of its threads: CallPump sends unary calls, StreamPump
// sends requests over streams. Pumps share only constants and a counter of tickets, so the client's
// threads never wait for each other.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <string>

#include "client/traffic/load_run.h"
#include "proto/base/clock.h"

namespace mpsd::traffic {

// The time in which calls count, in nanoseconds of the monotonic clock.
struct Window {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;

  bool Holds(int64_t now_ns) const { return begin_ns <= now_ns && now_ns < end_ns; }
};

// Owned by the run, which gives each pump a thread. Lives on the thread that calls Run(), which is
// called once.
class Pump {
 public:
  virtual ~Pump() = default;

  // Loads the server until the window's end, then takes the outstanding answers. Blocks for all
  // that time.
  virtual void Run(const Window& window) = 0;

  // Constant after Run() has returned; not to be read before.
  virtual const LoadCounts& counts() const = 0;
};

// ---- helpers for every kind of pump ----

// The credential that a client shows with each call: a bearer token for the daemon's access rules.
// Owned by a pump. Constant, so thread-safe.
class ShownToken {
 public:
  // An empty token means that nothing is shown.
  explicit ShownToken(const std::string& token) : header_(token.empty() ? "" : "Bearer " + token) {}

  // Must be called before the call begins.
  void AddTo(grpc::ClientContext* call) const {
    if (!header_.empty()) call->AddMetadata("authorization", header_);
  }

 private:
  const std::string header_;
};

// The part of `total` for thread `index` of `count`.
inline uint32_t Share(uint32_t total, uint32_t index, uint32_t count) {
  return total / count + (index < total % count ? 1 : 0);
}

// How long a thread waits for an answer before it looks at the clock again.
inline constexpr int64_t kPollNs = 20 * kNsPerMs;

// The clock of windows, deadlines and latencies.
inline int64_t NowNs() { return Clock::Real()->NowNs(); }

// A time from now as gRPC takes it, for deadlines of calls and waits on queues.
inline gpr_timespec MonotonicTime(int64_t ns_from_now) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(ns_from_now, GPR_TIMESPAN));
}

}  // namespace mpsd::traffic
