// DeviceHealth: pauses a device that one worker after another loses. Pure.
//
// A gpu can fail for every process at once, such as after a driver reset or a memory error. Then
// the losses of one model's workers concern all models there, and restarts help no client:
//
//   good ── kLossesInARow workers lost the device ──▶ bad: one worker at a time, as a probe, after
//     ▲                                               │  a rest that doubles with each further loss
//     └────────────── a worker serves on it ──────────┘
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "proto/base/clock.h"
#include "server/request/device_list.h"

namespace mpsd {

// A device is bad after this many losses without good service in between. Then these rests apply.
inline constexpr uint32_t kLossesInARow = 3;
inline constexpr int64_t kFirstDeviceRestNs = kNsPerSecond;
inline constexpr int64_t kLastDeviceRestNs = 30 * kNsPerSecond;

// One for each device, in SuperviseServices, shared by all models on it. Each WorkerGroup reports
// its workers' fate and asks before a start. Now and then one worker starts on a bad device, so
// that a driver reset heals it without an operator. Workers that serve on a bad device go on:
// perhaps only one process lost it. Time comes from the caller. Thread-compatible: used on the
// supervisor's thread.
class DeviceHealth {
 public:
  // A worker that was started at `started_ns` says by its exit code that it lost the device.
  // Workers that already ran at the last loss report that same loss, so it counts once: it hits all
  // clients of a CUDA Multi-Process Service.
  void OnLost(int64_t started_ns, int64_t now_ns) {
    if (losses_ > 0 && started_ns <= last_loss_ns_) return;
    ++losses_;
    last_loss_ns_ = now_ns;
    if (losses_ < kLossesInARow) return;
    const uint32_t doublings = std::min(losses_ - kLossesInARow, 10U);
    bad_ = true;
    rests_until_ns_ = now_ns + std::min(kLastDeviceRestNs, kFirstDeviceRestNs << doublings);
  }

  // A worker serves on it: others may start. The losses count until OnGoodService().
  void OnServing() { bad_ = false; }

  // A worker that has served for a while has just answered.
  void OnGoodService() {
    losses_ = 0;
    bad_ = false;
  }

  // Whether a worker may start on it now. On a bad device that worker is the probe, and this call
  // begins the next rest. So call it last, when nothing else forbids the start.
  bool MayStart(int64_t now_ns) {
    if (now_ns < rests_until_ns()) return false;
    rests_until_ns_ = now_ns + kLastDeviceRestNs;
    return true;
  }

  bool bad() const { return bad_; }

  // No worker starts on it before this time; 0 unless it is bad.
  int64_t rests_until_ns() const { return bad_ ? rests_until_ns_ : 0; }

 private:
  uint32_t losses_ = 0;  // since the last good service
  int64_t last_loss_ns_ = 0;
  int64_t rests_until_ns_ = 0;  // while it is bad
  bool bad_ = false;
};

// A device's canonical name; empty for the cpu, which has no health of its own.
inline std::string LosableDevice(const std::string& device) {
  return device == "cpu" ? "" : OneNameOf(device);
}

}  // namespace mpsd
