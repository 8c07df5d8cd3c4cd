// RemoveTree: removes a folder whose contents somebody else has made.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// The most entries that one call removes or moves.
inline constexpr int kMaxTreeSteps = 4'000'000;

// Removes the folder and all that is in it, however deep and whatever the modes: a model's code has
// written it. Symbolic links are removed, not followed. Holds two descriptors and no stack that
// grows with the depth: a folder in a folder is moved to the top first. OK when nothing is left, or
// nothing was there; otherwise the first reason, and the rest of the folder stays. Blocks for at
// most `max_steps` steps. Thread-safe.
absl::Status RemoveTree(const std::string& folder, int max_steps = kMaxTreeSteps);

}  // namespace mpsd
