// torch_device: the device that a model runs on, reached through c10's device guard. So one binary
// serves every device, and links neither CUDA nor Metal.
//
// TorchRuntime calls the functions in this order, because libtorch keeps what it first finds of
// CUDA:
//
//   PickDevice() ─▶ LoadedRuntime() ─▶ MakeStreamDevice(), StreamCount() ─▶ RegisterHostMemory(), …
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "proto/link/runtime_kind.h"
#include "worker/metal/driver_guard.h"
#include "worker/model/runtime/preflight.h"
#include "worker/model/torch/stream_set.h"

namespace mpsd {

// The device of that name, number 0 if it has none; "auto" is cuda or mps if there is one,
// otherwise the cpu. The device becomes the thread's own. Loading libtorch_cuda takes seconds; it
// stays for the life of the process. FAILED_PRECONDITION or INVALID_ARGUMENT says why the device
// cannot be used. Called on the main thread, before any other use of the device.
absl::StatusOr<c10::Device> PickDevice(const std::string& name);

// Every usable device, "auto"'s choice first: "cuda:0", "cpu". Called on the main thread.
std::vector<std::string> DeviceNames();

// Each CUDA device's address on the PCI bus, such as "0000:1B:00.0"; empty where it is not known.
// Called on the main thread.
std::vector<std::string> CudaAddresses();

// The device that "auto" passes over although its driver is there, and why: "cuda: libcudnn.so.9:
// cannot open …". Empty if there is none. Called on the main thread.
std::string DevicePassedOver();

// The cpu has no streams. Up to torch 2.14 c10 knows only one stream of mps.
std::unique_ptr<StreamDevice> MakeStreamDevice(c10::Device device);

// Streams besides the main one.
uint32_t StreamCount(c10::Device device);

// Blocks until all lanes' queued work is done. For loading, never while serving.
void SynchronizeDevice(c10::Device device);

// Gives the memory that libtorch keeps for later back to the device. Never fails.
void ReleaseUnusedMemory(c10::Device device);

// Host memory that this process has taken for the device and uses in no tensor, except
// `held_bytes`, which are not libtorch's. 0 if the device has memory of its own. Never fails.
uint64_t UnusedMemoryBytes(c10::Device device, uint64_t held_bytes);

// The loaded libtorch, and the version that this binary was compiled against.
RuntimeFacts LoadedRuntime();
RuntimeKind LoadedRuntimeKind();

// Guards the gpu driver's methods if device and libtorch need it (worker/metal/driver_guard.h).
// First called on the main thread, before libtorch makes anything on the device; thread-safe from
// then on.
DriverGuardState GuardDriver(c10::Device device);

// Memory for kRead may be mapped read-only.
enum class HostMemoryUse { kRead, kWritten };

// Pins host memory, so that copies run at the bus's speed and beside other work. Returns false if
// the device cannot; tensors are then staged. Unregister the memory before it is unmapped.
// Thread-safe.
bool RegisterHostMemory(c10::Device device, const void* data, uint64_t bytes, HostMemoryUse use);
void UnregisterHostMemory(const void* data);

// From 0 to 1; nullopt if the device does not say. Thread-safe.
std::optional<double> FreeMemoryShare(c10::Device device);

}  // namespace mpsd
