// round_trip_linux: timed round trips between two processes, bare or through the memory plane.
// Linux only: macOS cannot bind a thread to a core.
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

// kParked: sleeps between rounds. kAwake: polls without pause, which needs a core for each side.
enum class Waiting { kParked, kAwake };

// Ascending.
std::vector<int> AllowedCores();

// -1 binds it to all of AllowedCores().
void PinTo(int core);

// Sorts the times.
double QuantileUs(std::vector<int64_t>* times_ns, double quantile);

// Median and p99 of `trip(round)` here while a forked process runs `answer(round)`. A core of -1
// leaves the choice to the kernel. REQUIRES: no thread was started before.
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
  times_ns.erase(times_ns.begin(), times_ns.begin() + rounds / 10);  // warm-up
  return {{"p50_us", QuantileUs(&times_ns, 0.5)}, {"p99_us", QuantileUs(&times_ns, 0.99)}};
}

// The same for a hop from the front end to a lane and back, each in a process of its own.
nlohmann::json HopRoundTrip(Waiting waiting, uint32_t rounds, int core, int peer_core);

}  // namespace mpsd
