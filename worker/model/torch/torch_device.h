// torch_device: the device that a model runs on, reached through c10's device guard, so that one
// binary serves every device that the libtorch beside it supports.
//
// Nothing here includes or links CUDA or Metal. If cuda is meant, libtorch_cuda is opened at run
// time, and a few functions of CUDA's runtime are looked up in it.
//
// TorchRuntime calls the functions in this order, because libtorch keeps what it finds of CUDA when
// it is first asked about itself:
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

// The device of that name; "auto" is cuda or mps if this machine has one, otherwise the cpu. If
// cuda is meant, loads libtorch_cuda, which takes seconds, and keeps it for the life of the
// process. A device without a number is number 0. The device becomes the thread's own.
// FAILED_PRECONDITION or INVALID_ARGUMENT says why it cannot be used. Called on the main thread,
// before any other use of the device.
absl::StatusOr<c10::Device> PickDevice(const std::string& name);

// Every device that this libtorch can use here, first the one that "auto" stands for: "cuda:0",
// "cpu". Called on the main thread.
std::vector<std::string> DeviceNames();

// The address on the PCI bus of each CUDA device, such as "0000:1B:00.0"; empty where it is not
// known. Called on the main thread.
std::vector<std::string> CudaAddresses();

// The device that "auto" passes over although this machine has its driver, and why: "cuda:
// libcudnn.so.9: cannot open …". Empty if nothing was passed over. Called on the main thread.
std::string DevicePassedOver();

// The streams of a device; the cpu has none. Up to torch 2.14 c10 knows only one stream of mps.
std::unique_ptr<StreamDevice> MakeStreamDevice(c10::Device device);

// How many streams the device's threads can have besides the main one.
uint32_t StreamCount(c10::Device device);

// Blocks until all work queued on the device by any lane is done. For loading, never while serving.
void SynchronizeDevice(c10::Device device);

// Gives memory that libtorch keeps for later back to the device, if possible. Never fails.
void ReleaseUnusedMemory(c10::Device device);

// How much host memory this process has taken for the device without using it in a tensor of
// libtorch's: kept for later, or held by libtorch's graphs and kernels. The driver counts all
// buffers of the process; `held_bytes` of them are not libtorch's and are left out. 0 if the device
// has memory of its own. Never fails.
uint64_t UnusedMemoryBytes(c10::Device device, uint64_t held_bytes);

// The libtorch that this process has loaded, for the preflight to compare with the parameters. It
// has the version, from libtorch's description of its build, the kind, the path of the library, and
// the version that this binary was compiled against.
RuntimeFacts LoadedRuntime();
RuntimeKind LoadedRuntimeKind();

// Guards the gpu driver's methods if this device and libtorch need it, and says whether they are
// guarded now (worker/metal/driver_guard.h). First called on the main thread, before libtorch makes
// anything on the device; thread-safe from then on.
DriverGuardState GuardDriver(c10::Device device);

// How the device uses host memory; memory for kRead may be mapped read-only.
enum class HostMemoryUse { kRead, kWritten };

// Lets the device read or write host memory without staging: pages are pinned, so a copy runs at
// the bus's speed and beside other work. Only CUDA can do this. Returns false if its runtime
// cannot; tensors are then staged, which only costs time. The memory must be unregistered before it
// is unmapped. Thread-safe.
bool RegisterHostMemory(c10::Device device, const void* data, uint64_t bytes, HostMemoryUse use);
void UnregisterHostMemory(const void* data);

// The free share of the device's memory, from 0 to 1; nullopt if the device does not say.
// Thread-safe.
std::optional<double> FreeMemoryShare(c10::Device device);

}  // namespace mpsd
