// RemoveTree: removes a folder with contents that somebody else has made.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Limit on entries that one call removes or moves.
inline constexpr int kMaxTreeSteps = 4'000'000;

// Removes the folder and its contents, whatever their depth and modes: a model's code has written
// them. Removes symbolic links, does not follow them. Moves inner folders to the top first, so it
// holds two descriptors and a constant stack. OK if nothing is left or was there. Otherwise returns
// the first reason, and the rest stays. Blocks for at most `max_steps` steps. Thread-safe.
absl::Status RemoveTree(const std::string& folder, int max_steps = kMaxTreeSteps);

}  // namespace mpsd
