// ReloadPlan: what a new config changes. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/config/config.h"

namespace mpsd {

// The lists stand in the order in which a reload carries them out.
struct ReloadPlan {
  std::vector<ModelKey> keep;        // the same as before: not touched
  std::vector<ModelConfig> replace;  // known, but different
  std::vector<ModelConfig> add;
  std::vector<ModelKey> remove;
};

// The difference between the configs that the known models were made of and those that are wanted.
// REQUIRES: no key stands in one list twice.
ReloadPlan PlanReload(absl::Span<const ModelConfig> known, absl::Span<const ModelConfig> wanted);

// The keys of the daemon's own config that differ and take effect only when it starts again.
std::vector<std::string> KeysThatNeedARestart(const Config& before, const Config& after);

// "2 replaced, 1 added, 1 removed, 5 kept"
std::string PlanText(const ReloadPlan& plan);

}  // namespace mpsd
