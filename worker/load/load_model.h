// LoadModel: from a load order to a Model, whatever its format.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "worker/model/model.h"

namespace mpsd {

// Loads the code of the order's device and wakes the device up. Does not look at the model. Makes
// system calls that the sandbox denies afterwards. Called on the process's main thread.
absl::Status StartRuntime(const LoadOrder& order);

// Loads the model that the order names. Called on the process's main thread. The error's text says
// what to do; it is for the operator, and may hold the model's path.
absl::StatusOr<std::unique_ptr<Model>> LoadModel(const LoadOrder& order);

// What models run on in this binary: "torch 2.11.0"; "synthetic" if it was built without libtorch.
std::string RuntimeName();

// Which libtorch it is: "stock", "patched", …; empty without one.
std::string LoadedRuntimeKindName();

// The devices that models can run on here, the one that "auto" is first. Called on the main thread.
std::vector<std::string> UsableDevices();

}  // namespace mpsd
