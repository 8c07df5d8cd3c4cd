// WorkerExit: why a worker process ended, as metrics, log lines and `mpsd ps` say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

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

inline constexpr size_t kWorkerExits = 9;
inline constexpr std::array<const char*, kWorkerExits> kWorkerExitNames = {
    "exit", "signal", "killed", "oom", "hang", "protocol", "device", "load", "asked"};

constexpr const char* WorkerExitName(WorkerExit exit) {
  return kWorkerExitNames[static_cast<size_t>(exit)];
}

}  // namespace mpsd
