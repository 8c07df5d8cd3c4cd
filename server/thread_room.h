// CheckThreadRoom: whether this process may have all its threads.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace mpsd {

// The daemon cannot go on if the system refuses a thread (ulimit -u, TasksMax, pids.max), so all
// are tried together first. RESOURCE_EXHAUSTED says how many there was room for. Takes about a
// millisecond for a hundred. Called on the main thread, before any other is started.
absl::Status CheckThreadRoom(size_t count);

// A daemon's threads: fixed ones, and some for each core.
size_t ThreadsToServe();

}  // namespace mpsd
