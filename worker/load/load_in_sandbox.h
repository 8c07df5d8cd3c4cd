// Loads a model where it can do no harm.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "worker/model/model.h"

namespace mpsd {

// Enters the sandbox that the order asks for, starts the runtime and the device, seals the sandbox,
// and only then looks at the model, whose file is code. Called once, on the main thread, before any
// other thread.
absl::StatusOr<std::unique_ptr<Model>> LoadInSandbox(const LoadOrder& order);

}  // namespace mpsd
