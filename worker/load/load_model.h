// LoadModel: makes a Model from a load order, for any format.
//
// Only this file knows all formats. Without libtorch (MPSD_WITH_TORCH) only synthetic models load.
// Only LoadInSandbox() calls StartRuntime() and LoadModel(), with the steps of the sandbox between
// them.
//
//   kTorchScript   worker/model/torchscript
//   kAoti          worker/model/aoti
//   kHuggingFace   worker/model/encoder
//   kSynthetic     worker/model/synthetic     needs no libtorch
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/driver_guard.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// Loads the code for the order's device and starts the device, by calls that a sealed sandbox
// denies. Called once, on the main thread, which is the first to touch the device.
absl::Status StartRuntime(const LoadOrder& order);

// Loads the order's model, with its complete spec. Called on the main thread, after StartRuntime().
// Blocks until the weights are on the device. The text of an error is for the operator alone: it
// may hold the model's path. A precision of "auto" takes up to four loads (ChoosePrecision()),
// "int8" two (LoadInInt8()). UNIMPLEMENTED: a binary without libtorch. INVALID_ARGUMENT: for
// example, a decoupled model of a format that gives one answer, or an impossible precision.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const LoadOrder& order);

// By the folder's small files: the weights may be missing.
struct FolderPlan {
  ModelTask task = ModelTask::kAuto;
  int64_t width = 0;  // numbers in an answer's row
  std::vector<ModelFact> facts;
};

// Errors as ReadEncoderFolder(); UNIMPLEMENTED as LoadModel().
absl::StatusOr<FolderPlan> PlanOfFolder(const std::string& path);

// The lanes that model, runtime and device can bear now, 1 to `wanted`; `why` says why fewer.
// Called on the main thread.
uint32_t BearableLanes(const Model& model, uint32_t wanted, std::string* why);

// Whether threads now take turns in the methods of the gpu's driver that need it. If they should
// and do not, `why` says so. Other code may replace the methods, so this is no trait. Called after
// StartRuntime(); thread-safe.
DriverGuard GuardOfDriver(const std::string& device, std::string* why = nullptr);

// "torch 2.11.0", or "synthetic" without libtorch.
std::string RuntimeName();

// "stock", "patched", …, by libtorch's symbols (RuntimeKind); empty without libtorch.
std::string LoadedRuntimeKindName();

// The file of that libtorch; empty without libtorch.
std::string LoadedRuntimePath();

// A device that "auto" passes over although its driver is here, and why. Called on the main thread.
std::string PassedOver();

// Such as {"cuda:0", "cpu"}, the one of "auto" first. Called on the main thread.
std::vector<std::string> UsableDevices();

// The PCI bus address of each usable CUDA device. Called on the main thread.
std::vector<std::string> GpuAddresses();

}  // namespace mpsd
