// Examine: looks at this host for `mpsd doctor`, and tries what needs no model.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/config/config.h"
#include "server/operate/doctor/examination.h"

namespace mpsd {

// Tries what `mpsd serve` would do, and raises this process's limit of descriptors. Two children of
// mpsd-worker look at gpus and sandboxes, which stay with a process; each may block for a minute. A
// failed trial is a result. Called once, on the main thread.
Examination Examine(const Config& config, const std::string& worker);

// The line of `mpsd-worker --devices`. INVALID_ARGUMENT, with `worker` unchanged, if it is not
// understood. Pure.
absl::Status ReadDevicesLine(const std::string& line, ExaminedWorker* worker);

// The line of `mpsd-worker --sandbox`: OK, FAILED_PRECONDITION with the worker's reason, or
// INVALID_ARGUMENT if it is not understood. Pure.
absl::Status ReadSandboxLine(const std::string& line);

}  // namespace mpsd
