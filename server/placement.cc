#include "server/placement.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace mpsd {
namespace {

constexpr uint32_t kMostCpuLanes = 8;
constexpr uint32_t kGpuLanes = 4;
constexpr uint32_t kMpsProcesses = 2;

#if defined(__APPLE__)
constexpr const char* kAutoDevice = "mps";
#else
constexpr const char* kAutoDevice = "cpu";
#endif

uint32_t OrElse(uint32_t configured, uint32_t chosen) {
  return configured > 0 ? configured : chosen;
}

}  // namespace

Placement DecidePlacement(const ModelConfig& model, uint32_t cores, uint32_t model_count) {
  const std::string device = model.device == "auto" ? kAutoDevice : model.device;
  const bool cpu = model.format == ModelFormat::kSynthetic || device == "cpu";
  Placement placement;
  placement.lane_depth = cpu ? 1 : 2;
  placement.processes = OrElse(model.placement.processes, device == "mps" ? kMpsProcesses : 1);
  uint32_t lanes = 1;
  if (cpu) {
    const uint32_t share = (cores - std::min(cores - 1, 1U)) / std::max(1U, model_count);
    lanes = std::clamp(share / placement.processes, 1U, kMostCpuLanes);
  } else if (absl::StartsWith(device, "cuda")) {
    lanes = kGpuLanes;
  }
  placement.lanes = OrElse(model.placement.lanes, lanes);
  placement.threads = OrElse(model.placement.threads, 1);
  return placement;
}

}  // namespace mpsd
