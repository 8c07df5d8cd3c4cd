// Diagnose: judges what the doctor has seen. Pure; Examine() does the looking.
#pragma once

#include <string>
#include <vector>

#include "server/operate/doctor/examination.h"
#include "server/operate/doctor/finding.h"

namespace mpsd {

// With less memory a daemon and one worker with libtorch do not fit.
inline constexpr uint64_t kFewestMemoryBytes = 1ULL << 30;

// Room for regions that clients register by name: one from each of sixteen clients, with a few
// images. By default a container has 64 MiB.
inline constexpr uint64_t kFewestNamedMemoryBytes = 128ULL << 20;

// The findings about everything examined, always in the same order: the host, the config's demands,
// the worker. Pure.
std::vector<Finding> Diagnose(const Examination& seen);

// Things that nobody has tried, and how to try them: the doctor loads no model and runs nothing on
// a gpu. Pure.
std::vector<std::string> NotTried(const Examination& seen);

// The verdict of the worst finding; kOk without findings. Pure.
Verdict WorstOf(const std::vector<Finding>& findings);

}  // namespace mpsd
