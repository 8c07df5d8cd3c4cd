// LoadModel: makes a Model from a load order, for any format.
//
// Only this file knows all formats, and only this file is compiled in two ways: with libtorch
// (MPSD_WITH_TORCH), or without it, so that only synthetic models can be loaded.
//
//   kTorchScript   worker/model/torchscript   needs libtorch
//   kAoti          worker/model/aoti          needs libtorch
//   kHuggingFace   worker/model/encoder       needs libtorch
//   kSynthetic     worker/model/synthetic     needs none
//
// Only LoadInSandbox() (load_in_sandbox.h) calls the two functions, with the steps of the sandbox
// between them. A worker's main and `mpsd-worker --describe` load through it.
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

// Loads the code for the order's device and starts the device. Does not open the model's file.
// Makes system calls that the sandbox denies once it is sealed. Called once, on the main thread,
// which becomes the first thread to touch the device. Does nothing for the format "synthetic".
absl::Status StartRuntime(const LoadOrder& order);

// Loads the model that the order names, with its complete spec. Called on the main thread, after
// StartRuntime(). Blocks while the file is read and the weights go to the device. The text of an
// error tells the operator what to do; it may hold the model's path, so it is not for clients.
// ChoosePrecision() (worker/execute) decides a precision of "auto" here, in up to four loads.
// LoadInInt8() compares "int8" with fp32, in two loads. UNIMPLEMENTED: this binary was built
// without libtorch. INVALID_ARGUMENT: for example, a decoupled model of a format whose models give
// one answer to a request, or a precision that the model cannot be converted to.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const LoadOrder& order);

// A model of a folder of Hugging Face's, as its small files say it. The weights may be missing.
struct FolderPlan {
  ModelTask task = ModelTask::kAuto;
  int64_t width = 0;  // numbers in an answer's row
  std::vector<ModelFact> facts;
};

// The plan of the folder at `path`. Errors as ReadEncoderFolder(); UNIMPLEMENTED as LoadModel().
absl::StatusOr<FolderPlan> PlanOfFolder(const std::string& path);

// How many of `wanted` lanes the model, its runtime and the device can bear now, at least 1. Sets
// `why` when that is fewer. Called on the main thread.
uint32_t BearableLanes(const Model& model, uint32_t wanted, std::string* why);

// Whether this process's threads now take turns in those methods of the gpu's driver that need it,
// for a model on `device`. If they should and do not, `why` says so. Other code may replace the
// methods, so this is no trait. Called after StartRuntime(); thread-safe.
DriverGuard GuardOfDriver(const std::string& device, std::string* why = nullptr);

// The runtime of this binary's models: "torch 2.11.0", or "synthetic" when built without libtorch.
std::string RuntimeName();

// Which kind of libtorch this binary has loaded, by its symbols (RuntimeKind): "stock", "patched",
// …; empty when built without libtorch.
std::string LoadedRuntimeKindName();

// The file of that libtorch; empty when built without libtorch.
std::string LoadedRuntimePath();

// The device that "auto" passes over although this machine has its driver, and why; empty if there
// is none. Called on the main thread.
std::string PassedOver();

// The devices that models can run on here, such as {"cuda:0", "cpu"}, first the one that "auto"
// stands for. Called on the main thread.
std::vector<std::string> UsableDevices();

// The address on the PCI bus of each CUDA device among them. Called on the main thread.
std::vector<std::string> GpuAddresses();

}  // namespace mpsd
