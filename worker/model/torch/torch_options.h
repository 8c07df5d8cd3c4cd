// TorchOptions: a torch model's named switches, read from its parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// What a lane does that finds all streams of its device leased.
struct StreamExhaustion {
  enum Action { kError, kWait, kWaitLimited };
  Action action = kError;
  int64_t wait_ns = 0;
};

enum class Switch { kAuto, kOn, kOff };

inline bool Wanted(Switch value, bool automatic) {
  return value == Switch::kOn || (value == Switch::kAuto && automatic);
}

// Each mitigation can be turned by name; "auto" is on where the runtime needs it.
struct TorchOptions {
  Switch linear_rewrite = Switch::kAuto;    // aten::linear becomes addmm, or matmul and add
  Switch force_graph_path = Switch::kAuto;  // MPS_FORCE_GRAPH_PATH, for a patched libtorch
  bool allow_training_mode = false;         // serve such a module in evaluation mode instead
  bool allow_profiler = false;              // with several lanes on mps
  bool self_check = true;                   // compare lanes at load
  uint32_t device_inflight = 0;             // lanes that may use the device at once; 0: all
  StreamExhaustion stream_exhaustion;       // "error", "wait", or a duration
  std::string libtorch_version;             // preflight: what must be loaded; empty: any
  std::string libtorch_path;
  std::string runtime_kind;

  // INVALID_ARGUMENT names the parameter at fault. Parameters that are none of these belong to
  // clients and are passed over.
  static absl::StatusOr<TorchOptions> Parse(const std::map<std::string, std::string>& parameters);
};

}  // namespace mpsd
