// LoadInSandbox: loads a model where its code can do no harm.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// Enters the sandbox that the order asks for, starts the runtime and the device, seals the sandbox,
// and only then opens the model's file, which is code. FAILED_PRECONDITION when that is not the
// file that the order was made for: two versions of a model must not answer as one. What the
// sandbox takes is gone for the life of the process, also when loading fails.
//
// Called once, on the main thread, before any other thread starts. Blocks for the whole loading:
// seconds, or minutes for a large model.
absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(const LoadOrder& order);

}  // namespace mpsd
