// CheckThreadRoom: whether this process may have all the threads that it will start.
#pragma once

#include <cstddef>

#include "absl/status/status.h"

namespace mpsd {

// The daemon and its libraries start threads one by one, and cannot go on if the system refuses
// one. The process would end in the middle of its start with an exception's text. So all are tried
// together, before the first is needed: each waits until the last one runs, and then all end. A
// limit of tasks is a user's (ulimit -u) or a service's (TasksMax, pids.max), and workers need
// threads besides.
//
// RESOURCE_EXHAUSTED says how many there was room for. Takes about a millisecond for a hundred.
// Called on the main thread, before any other thread is started.
absl::Status CheckThreadRoom(size_t count);

// The threads of a daemon and its libraries: fixed ones, and some for each core.
size_t ThreadsToServe();

}  // namespace mpsd
