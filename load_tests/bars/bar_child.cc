#include "load_tests/bars/bar_child.h"

#include <poll.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "load_tests/bars/bar_inputs.h"
#include "load_tests/bars/bar_outcome.h"
#include "load_tests/bars/operator_model.h"
#include "proto/base/platform.h"
#include "worker/load/load_model.h"

namespace mpsd::load {
namespace {

constexpr int kControlFd = 3;
constexpr int kExitNoParent = 1;

void Tell(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  if (!platform::SendWithFds(kControlFd, {text.data(), text.size()}, {}).ok()) _exit(kExitNoParent);
}

void AwaitBegin() {
  char byte = 0;
  if (read(kControlFd, &byte, 1) != 1) _exit(kExitNoParent);
}

// The parent's end of the socket closes with the parent.
void EndWithParent() {
  std::thread([] {
    pollfd control = {kControlFd, 0, 0};
    while (poll(&control, 1, -1) <= 0) continue;
    _exit(kExitNoParent);
  }).detach();
}

void Enter(BarStage stage) {
  if (stage == BarStage::kCold) return Tell({{"stage", "cold"}});
  if (stage == BarStage::kAlone) return Tell({{"stage", "alone"}});
  Tell({{"stage", "ready"}});
  AwaitBegin();
  Tell({{"stage", "warm"}});
}

// The order of a worker whose model computes in FP32.
LoadOrder OrderOf(const BarsOptions& options, const PlannedBar& bar) {
  LoadOrder order;
  order.model = bar.name;
  order.device = options.device;
  order.precision = Precision::kFp32;
  order.lanes = bar.lanes.lanes;
  order.memory_share_percent = 100 / bar.processes;
  order.parameters["force_graph_path"] = "on";
  return order;
}

absl::StatusOr<BarOutcome> Run(const BarsOptions& options, const PlannedBar& bar) {
  const LoadOrder order = OrderOf(options, bar);
  if (absl::Status status = StartRuntime(order); !status.ok()) return status;
  const absl::StatusOr<std::unique_ptr<OperatorModel>> model =
      OperatorModel::Make(order, bar.tasks);
  if (!model.ok()) return model.status();
  const std::string& device = (*model)->traits().device;
  const BarInputs inputs(bar.tasks, bar.lanes.lanes, bar.lanes.seed);
  (*model)->memory()->RegisterMemory(inputs.data(), inputs.bytes());
  LaneBar lanes = bar.lanes;
  lanes.lane_on_main_thread = absl::StartsWith(device, "mps");
  const absl::StatusOr<LaneBarOutcome> outcome = RunLaneBar(model->get(), inputs, lanes, Enter);
  const DriverGuard guard = GuardOfDriver(device);
  (*model)->memory()->UnregisterMemory(inputs.data());
  if (!outcome.ok()) return outcome.status();
  return OutcomeOf(
      *outcome, bar.tasks,
      {device, RuntimeName(), LoadedRuntimeKindName(), LoadedRuntimePath(), NameOf(guard)});
}

}  // namespace

void RunBarAsChild(const BarsOptions& options, const PlannedBar& bar) {
  platform::DieWithParent();
  EndWithParent();
  const absl::StatusOr<BarOutcome> outcome = Run(options, bar);
  if (outcome.ok()) {
    Tell({{"outcome", ToJson(*outcome)}});
  } else {
    Tell({{"error", std::string(outcome.status().message())}});
  }
  _exit(0);  // without destructors: a thread still waits for the parent's end
}

}  // namespace mpsd::load
