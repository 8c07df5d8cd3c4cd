// WaitForMpsStream: waits for one stream of mps, which c10's device guard cannot do.
// mps_stream_wait_macos.cc and mps_stream_wait_linux.cc implement it side by side.
#pragma once

#include "absl/status/status.h"

namespace mpsd {

// Commits the work queued on the calling thread's current stream of mps, and blocks until it is
// done. Touches no other stream: the wait runs in the stream's own queue, as libtorch's blocking
// copies do. Newer libtorchs raise the error of a command buffer at such a wait; it is returned as
// by ExecuteFailure(). UNIMPLEMENTED without mps.
absl::Status WaitForMpsStream();

}  // namespace mpsd
