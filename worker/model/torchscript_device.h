// The device that a model runs on, reached through c10's device guard alone, so that one binary
// serves every device that the libtorch beside it knows.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"

namespace mpsd {

// The device of that name; "auto" is cuda or mps where there is one, else the cpu. Loads
// libtorch_cuda when cuda is meant. Called on the main thread.
absl::StatusOr<c10::Device> PickDevice(const std::string& name);

// Gives the calling thread a stream of its own, for the thread's life. Does nothing on the cpu.
absl::Status BindThreadToStream(c10::Device device);

// Waits for all that was begun on the device. For loading, never while serving.
void SynchronizeDevice(c10::Device device);

}  // namespace mpsd
