// ReloadPlan: what a new config changes. Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "server/config/config.h"

namespace mpsd {

// In the order of a reload.
struct ReloadPlan {
  std::vector<ModelKey> keep;  // not touched
  std::vector<ModelConfig> replace;
  std::vector<ModelConfig> add;
  std::vector<ModelKey> remove;
};

// `known` are the configs from which the known models were made. REQUIRES: no list has a key twice.
ReloadPlan PlanReload(absl::Span<const ModelConfig> known, absl::Span<const ModelConfig> wanted);

// Changed keys that need a restart.
std::vector<std::string> KeysThatNeedARestart(const Config& before, const Config& after);

// "2 replaced, 1 added, 1 removed, 5 kept"
std::string PlanText(const ReloadPlan& plan);

}  // namespace mpsd
