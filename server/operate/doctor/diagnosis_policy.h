// Diagnose: judges what the doctor has seen. Pure.
#pragma once

#include <string>
#include <vector>

#include "server/operate/doctor/examination.h"
#include "server/operate/doctor/finding.h"

namespace mpsd {

// With less, a daemon and one worker with libtorch do not fit.
inline constexpr uint64_t kFewestMemoryBytes = 1ULL << 30;

// A region with a few images from each of 16 clients. A container has 64 MiB by default.
inline constexpr uint64_t kFewestNamedMemoryBytes = 128ULL << 20;

// Always in the same order: the host, the config's demands, the worker. Pure.
std::vector<Finding> Diagnose(const Examination& seen);

// Things that nobody has tried, and how to try them: the doctor loads no model and opens no gpu.
// Pure.
std::vector<std::string> NotTried(const Examination& seen);

// kOk without findings. Pure.
Verdict WorstOf(const std::vector<Finding>& findings);

}  // namespace mpsd
