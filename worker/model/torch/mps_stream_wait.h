// WaitForMpsStream: waits for one stream of mps, which c10's device guard cannot do.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Commits and waits for the work on the calling thread's current stream alone. The error of a
// command buffer, which newer libtorchs raise here, is returned as by ExecuteFailure().
// UNIMPLEMENTED without mps.
absl::Status WaitForMpsStream();

}  // namespace mpsd
