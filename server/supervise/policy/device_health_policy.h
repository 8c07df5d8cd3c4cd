// DeviceHealth: lets a device rest on which one worker after the other is lost. Pure.
//
// A gpu can fail for every process at once, for instance when its driver has reset it or its memory
// has an error. Then the losses of one model's workers tell about all models there, and starting
// workers again and again helps no client:
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

// Losses without good service in between that make a device bad, and the rests from then on.
inline constexpr uint32_t kLossesInARow = 3;
inline constexpr int64_t kFirstDeviceRestNs = kNsPerSecond;
inline constexpr int64_t kLastDeviceRestNs = 30 * kNsPerSecond;

// One for each device, shared by all models on it: it stands in SuperviseServices, and each
// WorkerGroup tells it what its own workers met and asks it before a start. Now and then one worker
// starts on a bad device, so that a reset of the driver brings it back without an operator. Workers
// that serve on a bad device go on: perhaps only one process lost it. Takes the time from its
// caller. Thread-compatible: used on the supervisor's thread.
class DeviceHealth {
 public:
  // A worker that was started at `started_ns` has lost the device, as it says by its exit code.
  // Workers that ran already at the last loss report the same loss, which counts once: it hits all
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

  // A worker that has served for a while has answered just now.
  void OnGoodService() {
    losses_ = 0;
    bad_ = false;
  }

  // True when a worker may start on it now. On a bad device that worker is the probe, and the next
  // rest begins with this call: so a caller asks last, when nothing else forbids the start.
  bool MayStart(int64_t now_ns) {
    if (now_ns < rests_until_ns()) return false;
    rests_until_ns_ = now_ns + kLastDeviceRestNs;
    return true;
  }

  bool bad() const { return bad_; }

  // No worker starts on it before this; 0 unless it is bad.
  int64_t rests_until_ns() const { return bad_ ? rests_until_ns_ : 0; }

 private:
  uint32_t losses_ = 0;  // since the last good service
  int64_t last_loss_ns_ = 0;
  int64_t rests_until_ns_ = 0;  // while it is bad
  bool bad_ = false;
};

// The one name of a device that can be lost. Empty for the cpu, which has no health of its own.
inline std::string LosableDevice(const std::string& device) {
  return device == "cpu" ? "" : OneNameOf(device);
}

}  // namespace mpsd
