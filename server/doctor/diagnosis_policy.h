// Diagnose: what the doctor makes of what it has seen. Pure; Examine() does the looking.
#pragma once

#include <string>
#include <vector>

#include "server/doctor/examination.h"
#include "server/doctor/finding.h"

namespace mpsd {

// The memory below which a daemon and one worker with libtorch do not fit.
inline constexpr uint64_t kFewestMemoryBytes = 1ULL << 30;

// The room for regions that clients register by name: one of each of sixteen clients, with a few
// images in it. A container has 64 MiB where nobody asks for more.
inline constexpr uint64_t kFewestNamedMemoryBytes = 128ULL << 20;

// The findings about all that was examined, always in the same order: the host, what the config
// wants of it, the worker. Pure.
std::vector<Finding> Diagnose(const Examination& seen);

// What nobody has tried, and how to try it: the doctor loads no model and runs nothing on a gpu.
// Pure.
std::vector<std::string> NotTried(const Examination& seen);

// The verdict of the worst finding; kOk where there is none. Pure.
Verdict WorstOf(const std::vector<Finding>& findings);

}  // namespace mpsd
