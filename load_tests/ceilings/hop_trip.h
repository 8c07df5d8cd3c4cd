// hop_trip: a hop through the memory plane and back: rings, records and doorbells, without a model.
#pragma once

#include <cstdint>

#include "load_tests/ceilings/round_trip.h"

namespace mpsd {

// Median and p99 of a hop from the front end's end to a lane's end and back. Each end is a process
// that maps the other's segment read-only. Parked: each side sleeps as the daemon's completion
// thread and a worker's lane do. Awake: both look without pause. A core of -1 leaves the choice to
// the kernel. No thread may have been started.
nlohmann::json HopRoundTrip(Waiting waiting, uint32_t rounds, int core, int peer_core);

}  // namespace mpsd
