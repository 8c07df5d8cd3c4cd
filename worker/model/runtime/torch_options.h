// TorchOptions: a torch model's switches, read from its parameters.
//
// libtorch has known problems with several threads (docs/systems.md). Each measure against one has
// a switch, so an operator can tell which measure costs time or hides a fault. The keys below a
// model's `parameters`:
//
//   linear_rewrite, force_graph_path, row_buckets, graphs, panels,
//   shared_weights                       auto | on | off
//   training_mode                        refuse | evaluate
//   profiler                             refuse | allow
//   self_check                           on | off
//   device_inflight                      0 … kMaxLanes
//   stream_exhaustion                    error | wait | a duration
//   libtorch_version, libtorch_path, runtime_kind    see preflight
//
//   "parameters": {"self_check": "off", "device_inflight": "2", "stream_exhaustion": "500ms"}
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace mpsd {

// If all streams of the device are leased, a lane fails to start, or waits for a stream: without a
// limit, or for at most `wait_ns`.
struct StreamExhaustion {
  enum Action { kError, kWait, kWaitLimited };
  Action action = kError;
  int64_t wait_ns = 0;
};

// kAuto: on if the runtime needs it.
enum class Switch { kAuto, kOn, kOff };

// `automatic` says whether the runtime needs it.
inline bool Wanted(Switch value, bool automatic) {
  return value == Switch::kOn || (value == Switch::kAuto && automatic);
}

// Constant once parsed.
struct TorchOptions {
  Switch linear_rewrite = Switch::kAuto;    // aten::linear becomes addmm, or matmul and add
  Switch row_buckets = Switch::kAuto;       // batches of 1, 2, 4, 8, … rows
  Switch graphs = Switch::kAuto;            // lanes record runs and replay them, on cuda
  Switch panels = Switch::kAuto;            // linear layers use FloatPanels, on a cpu
  Switch shared_weights = Switch::kAuto;    // workers share one copy; kAuto: on cuda
  Switch force_graph_path = Switch::kAuto;  // MPS_FORCE_GRAPH_PATH, for a patched libtorch
  bool allow_training_mode = false;  // serve a module saved in training mode, in evaluation mode
  bool allow_profiler = false;       // allow the profiler with several lanes on mps
  bool self_check = true;            // compare lanes' outputs at load
  uint32_t device_inflight = 0;      // lanes that may use the device at once; 0: all
  StreamExhaustion stream_exhaustion;
  std::string libtorch_version;  // version that must be loaded; empty: any
  std::string libtorch_path;
  std::string runtime_kind;

  // INVALID_ARGUMENT names the wrong parameter and its choices. Other parameters are the clients',
  // and ignored. Pure.
  static absl::StatusOr<TorchOptions> Parse(const std::map<std::string, std::string>& parameters);
};

}  // namespace mpsd
