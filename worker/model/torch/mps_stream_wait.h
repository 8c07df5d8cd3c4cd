// WaitForMpsStream: the wait for one stream of mps, which c10's device guard does not have.
// mps_stream_wait_macos.cc and mps_stream_wait_linux.cc implement it side by side.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Blocks until everything that was queued on the calling thread's current stream of mps is done,
// and commits what was not yet. Waits for no other stream, and touches none: the wait runs in the
// stream's own queue, as libtorch's blocking copies do. The error of a command buffer, which newer
// libtorchs raise at such a wait, comes as ExecuteFailure() has it. UNIMPLEMENTED without mps.
absl::Status WaitForMpsStream();

}  // namespace mpsd
