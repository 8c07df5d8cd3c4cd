// Round trips between two processes, timed.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <vector>

#include "nlohmann/json.hpp"
#include "proto/base/check.h"
#include "proto/base/clock.h"

namespace mpsd {

enum class Waiting { kParked, kAwake };

// The cores that this process may use, ascending.
std::vector<int> AllowedCores();

// Binds the calling thread to a core; to those of AllowedCores() for -1.
void PinTo(int core);

// A quantile of times, in microseconds. Sorts them.
double QuantileUs(std::vector<int64_t>* times_ns, double quantile);

// Median and p99 of what `trip(round)` takes here, while a forked process runs `answer(round)`, for
// the rounds from 1 on. A core of -1 leaves it to the kernel. REQUIRES: no thread has been started.
template <typename Answer, typename Trip>
nlohmann::json TimeRoundTrips(uint32_t rounds, int core, int peer_core, Answer answer, Trip trip) {
  const pid_t peer = fork();
  MPSD_CHECK(peer >= 0);
  if (peer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    PinTo(peer_core);
    for (uint32_t i = 1; i <= rounds; ++i) answer(i);
    _exit(0);
  }
  PinTo(core);
  std::vector<int64_t> times_ns;
  times_ns.reserve(rounds);
  const Clock* clock = Clock::Real();
  for (uint32_t i = 1; i <= rounds; ++i) {
    const int64_t begin_ns = clock->NowNs();
    trip(i);
    times_ns.push_back(clock->NowNs() - begin_ns);
  }
  MPSD_CHECK(waitpid(peer, nullptr, 0) == peer);
  PinTo(-1);
  times_ns.erase(times_ns.begin(), times_ns.begin() + rounds / 10);  // until both sides have run
  return {{"p50_us", QuantileUs(&times_ns, 0.5)}, {"p99_us", QuantileUs(&times_ns, 0.99)}};
}

}  // namespace mpsd
