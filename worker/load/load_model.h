// LoadModel: makes a Model of a load order, whatever its format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// Loads the code for the order's device and starts the device. Does not open the model's file.
// Makes system calls that the sandbox denies once it is sealed. Called on the main thread. Does
// nothing for the format "synthetic".
absl::Status StartRuntime(const LoadOrder& order);

// Loads the model that the order names. Called on the main thread, after StartRuntime(). The text
// of an error tells the operator what to do; it may hold the model's path, so it is not for
// clients. UNIMPLEMENTED: this binary was built without libtorch.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const LoadOrder& order);

// The runtime of this binary's models: "torch 2.11.0", or "synthetic" when built without libtorch.
std::string RuntimeName();

// Which kind of libtorch that is: "stock", "patched", …; empty when built without libtorch.
std::string LoadedRuntimeKindName();

// The devices that models can run on here, beginning with the one that "auto" stands for. Called on
// the main thread.
std::vector<std::string> UsableDevices();

}  // namespace mpsd
