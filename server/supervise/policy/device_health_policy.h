// DeviceHealth: pauses a device that one worker after another loses. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "proto/base/clock.h"
#include "server/request/device_list.h"

namespace mpsd {

// Losses without good service in between that make a device bad.
inline constexpr uint32_t kLossesInARow = 3;
inline constexpr int64_t kFirstDeviceRestNs = kNsPerSecond;
inline constexpr int64_t kLastDeviceRestNs = 30 * kNsPerSecond;

// A gpu can fail for every process at once, as after a driver reset. Restarts then help nobody:
//
//   good ── kLossesInARow workers lost the device ──▶ bad: one worker at a time, as a probe, after
//     ▲                                               │  a rest that doubles with each further loss
//     └────────────── a worker serves on it ──────────┘
//
// Workers that serve on a bad device go on: perhaps only one process lost it. One for each device,
// in SuperviseServices, told and asked by each WorkerGroup. Thread-compatible: used on the
// supervisor's thread.
class DeviceHealth {
 public:
  // A worker started at `started_ns` lost the device, by its exit code. Workers that already ran at
  // the last loss report the same loss, which counts once.
  void OnLost(int64_t started_ns, int64_t now_ns) {
    if (losses_ > 0 && started_ns <= last_loss_ns_) return;
    ++losses_;
    last_loss_ns_ = now_ns;
    if (losses_ < kLossesInARow) return;
    const uint32_t doublings = std::min(losses_ - kLossesInARow, 10U);
    bad_ = true;
    rests_until_ns_ = now_ns + std::min(kLastDeviceRestNs, kFirstDeviceRestNs << doublings);
  }

  // The losses count until OnGoodService().
  void OnServing() { bad_ = false; }

  // A worker that has served for a while has answered.
  void OnGoodService() {
    losses_ = 0;
    bad_ = false;
  }

  // Whether a worker may start on it now. On a bad device this begins the next rest, so call it
  // last, when nothing else forbids the start.
  bool MayStart(int64_t now_ns) {
    if (now_ns < rests_until_ns()) return false;
    rests_until_ns_ = now_ns + kLastDeviceRestNs;
    return true;
  }

  bool bad() const { return bad_; }

  // 0 unless it is bad.
  int64_t rests_until_ns() const { return bad_ ? rests_until_ns_ : 0; }

 private:
  uint32_t losses_ = 0;  // since the last good service
  int64_t last_loss_ns_ = 0;
  int64_t rests_until_ns_ = 0;
  bool bad_ = false;
};

// Canonical; empty for the cpu, which has no health of its own.
inline std::string LosableDevice(const std::string& device) {
  return device == "cpu" ? "" : OneNameOf(device);
}

}  // namespace mpsd
