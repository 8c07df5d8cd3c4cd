// WorkerExit: why a worker process ended, as metrics, log lines and `mpsd ps` say.
//
// An operator reads from it where to look: at the model or its libraries (exit, signal, hang,
// protocol, load), at the host (oom, device), at other people (killed) or nowhere (asked).
// DescribeExit() (server/supervise/process/exit_reason.h) finds it from the wait status and from
// what the front end knows. The meaning of a death for the requests inside is a WorkerEnd
// (server/dispatch/worker_end.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

// In the order of the names below. The thread `supervisor` decides on one for each incarnation, for
// good once the worker's death is confirmed.
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

// How many there are. ModelMetrics has a counter for each, indexed by the value of the enumerator.
inline constexpr size_t kWorkerExits = 9;

// The label "reason" of mpsd_worker_exits_total: dashboards and alerts name these words.
inline constexpr std::array<const char*, kWorkerExits> kWorkerExitNames = {
    "exit", "signal", "killed", "oom", "hang", "protocol", "device", "load", "asked"};

constexpr const char* WorkerExitName(WorkerExit exit) {
  return kWorkerExitNames[static_cast<size_t>(exit)];
}

}  // namespace mpsd
