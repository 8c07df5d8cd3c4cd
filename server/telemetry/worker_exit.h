// WorkerExit: why a worker process ended, for metrics, log lines and `mpsd ps`.
//
// It tells an operator where to look. The reasons exit, signal, hang, protocol and load point at
// the model or its libraries. The reasons oom and device point at the host, killed at people, asked
// at nothing. WorkerEnd says what the death means for the requests inside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// In the order of the names below. Decided once the worker's death is confirmed.
enum class WorkerExit : uint8_t {
  kExit,      // it exited instead of serving
  kSignal,    // it caused a signal: SIGSEGV, SIGABRT, ...
  kKilled,    // SIGKILL, SIGTERM or SIGINT from outside
  kOom,       // the kernel killed it for memory
  kHang,      // the daemon killed it: it made no progress
  kProtocol,  // the daemon killed it: it broke a rule of the shared memory or control socket
  kDevice,    // it reported that its device is lost
  kLoad,      // it reported that it cannot load or warm up the model
  kAsked,     // the daemon ended it: it is no longer needed
};

// ModelMetrics has a counter for each.
inline constexpr size_t kWorkerExits = 9;

// The label "reason" of mpsd_worker_exits_total, a contract with dashboards and alerts.
inline constexpr std::array<const char*, kWorkerExits> kWorkerExitNames = {
    "exit", "signal", "killed", "oom", "hang", "protocol", "device", "load", "asked"};

constexpr const char* WorkerExitName(WorkerExit exit) {
  return kWorkerExitNames[static_cast<size_t>(exit)];
}

}  // namespace mpsd
