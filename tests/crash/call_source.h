// CallSource: draws the calls of a load.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "proto/base/clock.h"
#include "tests/crash/call_history.h"

namespace mpsd::crash {

// How long a client waits beyond a call's time. It counts as never ended then.
inline constexpr int64_t kBackstopNs = 20 * kNsPerSecond;

struct CallerPlan {
  std::string address;
  std::string model;
  uint32_t concurrency = 16;
  uint32_t rows_max = 4;
  uint64_t seed = 1;
  double cancel_percent = 0;
  double poison_percent = 0;
  double timeout_percent = 0;  // calls with a timeout between the next two
  int64_t timeout_low_ms = 1;
  int64_t timeout_high_ms = 50;
  int64_t patience_ms = 30'000;  // the timeout of all others, and how long the end is waited for
  PayloadPlan payload;

  // Over HTTP alone.
  double json_percent = 0;  // calls whose tensors are JSON, both ways
  double cut_percent = 0;   // calls whose clients leave when half of the request is sent
  double slow_percent = 0;  // calls that are sent piece by piece
};

// Thread-compatible.
class CallSource {
 public:
  explicit CallSource(const CallerPlan& plan) : plan_(plan), random_(plan.seed) {}

  // A call with an id that no other has. When it is sent is left to who sends it.
  Call Next();

  // True so often.
  bool Draw(double percent);

  // How long after it was sent a call is cancelled, in time for some of them.
  int64_t DrawCancelNs();

 private:
  const CallerPlan plan_;
  std::mt19937_64 random_;
  uint64_t next_id_ = 1;
};

}  // namespace mpsd::crash
