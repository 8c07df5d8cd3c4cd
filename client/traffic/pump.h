// Pump: one client thread's part of a run, and helpers for every kind of pump.
//
// Pumps share only constants and a counter of tickets, so threads never wait for each other.
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

// Owned by the run. Lives on the thread that calls Run(), once.
class Pump {
 public:
  virtual ~Pump() = default;

  // Loads the server until the window's end, then takes outstanding answers. Blocks.
  virtual void Run(const Window& window) = 0;

  // Constant after Run() has returned; not to be read before.
  virtual const LoadCounts& counts() const = 0;
};

// ---- helpers ----

// A bearer token for each call. Constant, so thread-safe.
class ShownToken {
 public:
  // An empty token means that nothing is shown.
  explicit ShownToken(const std::string& token) : header_(token.empty() ? "" : "Bearer " + token) {}

  // Called before the call begins.
  void AddTo(grpc::ClientContext* call) const {
    if (!header_.empty()) call->AddMetadata("authorization", header_);
  }

 private:
  const std::string header_;
};

inline uint32_t Share(uint32_t total, uint32_t index, uint32_t count) {
  return total / count + (index < total % count ? 1 : 0);
}

// A wait for an answer lasts so long until the next look at the clock.
inline constexpr int64_t kPollNs = 20 * kNsPerMs;

// The clock of windows, deadlines and latencies.
inline int64_t NowNs() { return Clock::Real()->NowNs(); }

// gRPC's deadlines and queues take it.
inline gpr_timespec MonotonicTime(int64_t ns_from_now) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_nanos(ns_from_now, GPR_TIMESPAN));
}

}  // namespace mpsd::traffic
