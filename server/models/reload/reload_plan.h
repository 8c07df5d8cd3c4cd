// ReloadPlan: what a new config changes. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/config/config.h"

namespace mpsd {

// The lists are in the order in which a reload carries them out.
struct ReloadPlan {
  std::vector<ModelKey> keep;        // unchanged: not touched
  std::vector<ModelConfig> replace;  // known, but different
  std::vector<ModelConfig> add;
  std::vector<ModelKey> remove;
};

// Compares the configs from which the known models were made with the wanted ones. REQUIRES: no
// list has a key twice.
ReloadPlan PlanReload(absl::Span<const ModelConfig> known, absl::Span<const ModelConfig> wanted);

// The changed keys of the daemon's own config that take effect only after a restart.
std::vector<std::string> KeysThatNeedARestart(const Config& before, const Config& after);

// "2 replaced, 1 added, 1 removed, 5 kept"
std::string PlanText(const ReloadPlan& plan);

}  // namespace mpsd
