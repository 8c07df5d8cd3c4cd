#include "server/models/placement.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/base/check.h"
#include "proto/base/limits.h"
#include "server/request/device_list.h"
#include "server/supervise/policy/device_health_policy.h"

namespace mpsd {
namespace {

constexpr uint32_t kMostCpuLanes = 8;
constexpr uint32_t kMostLoneThreads = 8;
constexpr uint32_t kSmallHostCores = 2;
constexpr uint32_t kCudaLanes = 4;
constexpr uint32_t kCudaMpsProcesses = 2;
constexpr uint32_t kMpsProcesses = 2;
constexpr uint64_t kWorkingSetPercent = 60;

uint32_t OrElse(uint32_t configured, uint32_t chosen) {
  return configured > 0 ? configured : chosen;
}

// If none is known, the first: its worker says why it cannot be used.
std::vector<std::string> AllCudaDevices(const HostFacts& host) {
  std::vector<std::string> devices;
  for (uint32_t i = 0; i < std::min(host.cuda_devices, kMaxWorkers); ++i) {
    devices.push_back(absl::StrCat("cuda:", i));
  }
  if (devices.empty()) devices.emplace_back("cuda");
  return devices;
}

std::vector<std::string> DevicesOf(const ModelConfig& model, const HostFacts& host) {
  if (model.format == ModelFormat::kSynthetic) return {"cpu"};
  if (model.device == kAllCudaDevices) return AllCudaDevices(host);
  return model.device == "auto" ? std::vector<std::string>{host.auto_device}
                                : DevicesOfText(model.device);
}

bool IsCpu(const ModelConfig& model, const HostFacts& host) {
  return DevicesOf(model, host).front() == "cpu";
}

std::string DeviceNoteOf(const ModelConfig& model, const HostFacts& host) {
  const bool is_open = model.device == "auto" && model.format != ModelFormat::kSynthetic;
  if (!is_open || host.passed_over.empty()) return "";
  return absl::StrCat("passed over ", host.passed_over);
}

bool IsMps(const std::string& device) { return absl::StartsWith(device, "mps"); }

// Memory must hold one more, since a replacement starts before the old one ends.
uint32_t MpsProcesses(const HostFacts& host, size_t index) {
  if (host.working_set_bytes == 0 || index >= host.file_bytes.size()) return kMpsProcesses;
  const uint64_t room_bytes = host.working_set_bytes / 100 * kWorkingSetPercent;
  const uint64_t weights_bytes = std::max<uint64_t>(1, host.file_bytes[index]);
  const uint64_t fitting = room_bytes / weights_bytes;
  return fitting > kMpsProcesses ? kMpsProcesses : 1;
}

uint32_t CoresForModels(const HostFacts& host) {
  return host.cores <= kSmallHostCores ? host.cores : host.cores - 1;
}

// The cores of a model on the cpu.
struct CpuShares {
  uint32_t models = 0;
  uint32_t alone = 1;
  uint32_t weighted = 1;

  uint32_t Of(const ModelConfig& model) const {
    return model.lane_needs.weight > 0 ? weighted : alone;
  }
};

CpuShares SharesOf(absl::Span<const ModelConfig> models, const HostFacts& host) {
  uint32_t on_cpu = 0;
  uint32_t weighted = 0;
  for (const ModelConfig& model : models) {
    if (!IsCpu(model, host)) continue;
    ++on_cpu;
    if (model.lane_needs.weight > 0) ++weighted;
  }
  const uint32_t cores = CoresForModels(host);
  // One division, so that no remainder is lost.
  return {on_cpu, std::max(1U, cores / std::max(1U, on_cpu)),
          std::max(1U, cores * weighted / std::max(1U, on_cpu))};
}

// Takes the devices in turn.
std::vector<DeviceShare> Spread(uint32_t processes, const std::vector<std::string>& devices) {
  std::vector<DeviceShare> shares;
  for (uint32_t i = 0; i < processes; ++i) shares.push_back({devices[i % devices.size()]});
  return shares;
}

// A model's processes take these nodes in turn.
struct NodeTurns {
  absl::Span<const std::vector<uint32_t>> nodes;  // empty: none keeps to a node
  size_t first = 0;

  size_t cores() const {
    size_t fewest = nodes.front().size();
    for (const std::vector<uint32_t>& node : nodes) fewest = std::min(fewest, node.size());
    return fewest;
  }
};

NodeTurns TurnsOf(const ModelConfig& model, absl::Span<const ModelConfig> models,
                  const HostFacts& host) {
  if (host.nodes.size() < 2 || model.lane_needs.weight > 0) return {};
  NodeTurns turns{host.nodes};
  for (const ModelConfig& other : models) {
    if (IsCpu(other, host) && other.key() < model.key()) ++turns.first;
  }
  return turns;
}

// Models of one process each that do not come out even would crowd one node.
void KeepToNodes(const NodeTurns& turns, uint32_t each, uint32_t models,
                 std::vector<DeviceShare>* processes) {
  const size_t nodes = turns.nodes.size();
  if (nodes == 0 || each > turns.cores()) return;
  const size_t dealt = processes->size() == 1 ? models : processes->size();
  if (dealt % nodes != 0) return;
  for (size_t i = 0; i < processes->size(); ++i) {
    (*processes)[i].cores = turns.nodes[(turns.first + i) % nodes];
  }
}

void PlaceOnCpu(const ModelConfig& model, const CpuShares& shares, const NodeTurns& turns,
                Placement* placement) {
  const uint32_t share = shares.Of(model);
  const bool is_wide = !turns.nodes.empty() && share > turns.cores();
  const auto chosen = static_cast<uint32_t>(is_wide ? turns.nodes.size() : 1);
  const uint32_t processes = OrElse(model.placement.processes, std::min(chosen, kMaxWorkers));
  placement->processes = Spread(processes, {"cpu"});
  const uint32_t each = std::max(1U, share / processes);
  placement->lanes = OrElse(model.placement.lanes, std::min(each, kMostCpuLanes));
  const uint32_t part = std::max(1U, each / placement->lanes);
  placement->threads =
      OrElse(model.placement.threads, std::max(part, std::min(each, kMostLoneThreads)));
  const bool is_open = model.placement.threads == 0;
  placement->cores = is_open ? each : placement->lanes * placement->threads;
  KeepToNodes(turns, placement->cores, shares.models, &placement->processes);
}

void KeepToNodesOfGpus(const HostFacts& host, std::vector<DeviceShare>* processes) {
  for (DeviceShare& share : *processes) {
    uint32_t number = 0;
    const std::string device = OneNameOf(share.device);
    absl::string_view rest = device;
    if (!absl::ConsumePrefix(&rest, "cuda:") || !absl::SimpleAtoi(rest, &number)) continue;
    if (number >= host.gpu_nodes.size() || !host.gpu_nodes[number].has_value()) continue;
    share.cores = host.nodes[*host.gpu_nodes[number]];
  }
}

void PlaceOnGpu(const ModelConfig& model, const HostFacts& host, size_t index,
                Placement* placement) {
  const std::vector<std::string> devices = DevicesOf(model, host);
  const bool mps = IsMps(devices.front());
  const auto device_count = static_cast<uint32_t>(devices.size());
  const uint32_t on_each =
      mps ? MpsProcesses(host, index) : (host.cuda_mps ? kCudaMpsProcesses : 1);
  const uint32_t processes = std::min(on_each * device_count, kMaxWorkers);
  const uint32_t mps_lanes = host.runtime_kind == RuntimeKind::kPatched ? kMpsLanes : 1;
  placement->lane_depth = 2;
  placement->processes = Spread(OrElse(model.placement.processes, processes), devices);
  KeepToNodesOfGpus(host, &placement->processes);
  placement->lanes = OrElse(model.placement.lanes, mps ? mps_lanes : kCudaLanes);
  placement->threads = OrElse(model.placement.threads, 1);
  placement->cores = placement->lanes * placement->threads;
}

void ShareMemory(std::vector<Placement>* placements) {
  std::map<std::string, uint32_t> counts;
  for (const Placement& placement : *placements) {
    for (const DeviceShare& share : placement.processes) ++counts[LosableDevice(share.device)];
  }
  for (Placement& placement : *placements) {
    for (DeviceShare& share : placement.processes) {
      const std::string device = LosableDevice(share.device);
      if (!device.empty()) share.memory_percent = std::max(1U, 100 / counts[device]);
    }
  }
}

}  // namespace

std::vector<Placement> DecidePlacements(absl::Span<const ModelConfig> models,
                                        const HostFacts& host) {
  MPSD_CHECK(host.cores > 0);
  const CpuShares shares = SharesOf(models, host);
  std::vector<Placement> placements;
  for (size_t i = 0; i < models.size(); ++i) {
    Placement& placement = placements.emplace_back();
    placement.device_note = DeviceNoteOf(models[i], host);
    if (IsCpu(models[i], host)) {
      PlaceOnCpu(models[i], shares, TurnsOf(models[i], models, host), &placement);
    } else {
      PlaceOnGpu(models[i], host, i, &placement);
    }
  }
  ShareMemory(&placements);
  return placements;
}

}  // namespace mpsd
