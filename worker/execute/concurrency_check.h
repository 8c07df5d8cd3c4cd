// The self-check of a model's lanes before they serve.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "worker/model/model.h"

namespace mpsd {

// Gives each lane inputs of its own, runs them one lane after the other, then all at once, some
// times, and compares the outputs. ABORTED when they differ by more than rounding does, or a run
// fails that went well alone: lanes of this model are not safe. UNAVAILABLE when that cannot be
// told, since the model does not answer random inputs, or answers them differently each time.
// Called on the main thread before the lanes start; takes threads of its own for the time.
absl::Status CheckConcurrency(Model* model, uint32_t lanes);

}  // namespace mpsd
