// WorkerExit: why a worker process ended, as metrics, log lines and operators are told.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mpsd {

enum class WorkerExit : uint8_t {
  kExit,      // it exited while it should have served
  kSignal,    // a signal of its own doing: SIGSEGV, SIGABRT, ...
  kKilled,    // somebody else's SIGKILL, SIGTERM or SIGINT
  kOom,       // the kernel's, since memory was short
  kHang,      // by us: it made no progress
  kProtocol,  // by us: it broke a rule of shared memory or of the control socket
  kDevice,    // it said that its device is lost
  kLoad,      // it said that it cannot load or warm up the model
  kAsked,     // by us: it is not needed any more
};

inline constexpr size_t kWorkerExits = 9;
inline constexpr std::array<const char*, kWorkerExits> kWorkerExitNames = {
    "exit", "signal", "killed", "oom", "hang", "protocol", "device", "load", "asked"};

constexpr const char* WorkerExitName(WorkerExit exit) {
  return kWorkerExitNames[static_cast<size_t>(exit)];
}

}  // namespace mpsd
