// The device that a model runs on, reached through c10's device guard alone, so that one binary
// serves every device that the libtorch beside it knows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "proto/link/runtime_kind.h"
#include "worker/model/torch/preflight.h"
#include "worker/model/torch/stream_set.h"

namespace mpsd {

// The device of that name; "auto" is cuda or mps where there is one, else the cpu. Loads
// libtorch_cuda when cuda is meant. Called on the main thread.
absl::StatusOr<c10::Device> PickDevice(const std::string& name);

// Every device that this libtorch can use here, the one that "auto" is first: "cuda:0", "cpu".
std::vector<std::string> DeviceNames();

// The streams of a device that has some, which is not the cpu.
std::unique_ptr<StreamDevice> MakeStreamDevice(c10::Device device);

// How many streams of their own the device's threads can have beside the main one.
uint32_t StreamCount(c10::Device device);

// Waits for all that was begun on the device. For loading, never while serving.
void SynchronizeDevice(c10::Device device);

// The libtorch that this process runs on.
RuntimeFacts LoadedRuntime();
RuntimeKind LoadedRuntimeKind();

// Lets the device read host memory without staging it, where its runtime can; false where not. The
// memory may be mapped read-only, and is unregistered before it is unmapped. Thread-safe.
bool RegisterHostMemory(c10::Device device, const void* data, uint64_t bytes);
void UnregisterHostMemory(const void* data);

}  // namespace mpsd
