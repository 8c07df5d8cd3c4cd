// Examine: looks at this host for `mpsd doctor`, and tries what needs no model.
//
// Nothing that it makes for a trial outlives the call. Opens no device: two children, `mpsd-worker
// --devices` and `mpsd-worker --sandbox`, report gpus and sandboxes, because a driver or a sandbox
// stays with its process.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/config/config.h"
#include "server/operate/doctor/examination.h"

namespace mpsd {

// Tries what `mpsd serve` would do with `config` and this worker on this host. Raises this
// process's limit of descriptors as a daemon does. Blocks for up to a minute for each child. Cannot
// fail: a failed trial is a result. Called once, on the main thread.
Examination Examine(const Config& config, const std::string& worker);

// Reads the line of `mpsd-worker --devices` into `worker`. INVALID_ARGUMENT, with `worker`
// unchanged, if it is not understood. Pure.
absl::Status ReadDevicesLine(const std::string& line, ExaminedWorker* worker);

// Reads the line of `mpsd-worker --sandbox`: OK, FAILED_PRECONDITION with the worker's reason, or
// INVALID_ARGUMENT if it is not understood. Pure.
absl::Status ReadSandboxLine(const std::string& line);

}  // namespace mpsd
