// Examine: looks at this host for `mpsd doctor`, and tries what can be tried without a model.
//
// Changes nothing that outlives the call: what is made for a trial is gone when it returns. Opens
// no device: what there is of gpus and of sandboxes two children are asked, `mpsd-worker --devices`
// and `mpsd-worker --sandbox`, since a driver or a sandbox stays with its process.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/config/config.h"
#include "server/doctor/examination.h"

namespace mpsd {

// What `mpsd serve` would do with `config`, on this host, with this worker. Raises this process's
// limit of descriptors as a daemon does. Blocks for up to a minute for each child. Cannot fail: a
// trial that does is what there is to see. Called once, on the main thread.
Examination Examine(const Config& config, const std::string& worker);

// Reads what `mpsd-worker --devices` wrote into `worker`. INVALID_ARGUMENT, and `worker` is
// unchanged, where the line is not understood. Pure.
absl::Status ReadDevicesLine(const std::string& line, ExaminedWorker* worker);

// What `mpsd-worker --sandbox` wrote: OK, FAILED_PRECONDITION with the worker's reason, or
// INVALID_ARGUMENT where the line is not understood. Pure.
absl::Status ReadSandboxLine(const std::string& line);

}  // namespace mpsd
