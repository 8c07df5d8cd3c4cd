// A hop through the memory plane and back: rings, records and doorbells, with no batch behind them.
#pragma once

#include <cstdint>

#include "load_tests/round_trip.h"

namespace mpsd {

// Median and p99 of a hop from the front end's end to a lane's and back, each in a process of its
// own that maps the other's segment read-only. Parked, each side sleeps as the daemon's completion
// thread and a worker's lane do; awake, both look without pause.
nlohmann::json HopRoundTrip(Waiting waiting, uint32_t rounds, int core, int peer_core);

}  // namespace mpsd
