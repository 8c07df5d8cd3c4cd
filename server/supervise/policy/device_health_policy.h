// DeviceHealth: lets a device rest on which one worker after the other is lost. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr uint32_t kLossesInARow = 3;
inline constexpr int64_t kFirstDeviceRestNs = kNsPerSecond;
inline constexpr int64_t kLastDeviceRestNs = 30 * kNsPerSecond;

// One for each device, shared by all models on it. Now and then one worker starts on a bad device,
// so that a reset of the driver brings it back without an operator. Workers that serve on a bad
// device go on: perhaps only one process lost it. Thread-compatible.
class DeviceHealth {
 public:
  // A worker that was started at `started_ns` has lost the device. Workers that ran already at the
  // last loss report the same loss: it hits all clients of a CUDA Multi-Process Service.
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

  // True when a worker may start on it now; after a rest it is the probe.
  bool MayStart(int64_t now_ns) {
    if (now_ns < rests_until_ns()) return false;
    rests_until_ns_ = now_ns + kLastDeviceRestNs;
    return true;
  }

  bool bad() const { return bad_; }

  // No worker starts on it before this.
  int64_t rests_until_ns() const { return bad_ ? rests_until_ns_ : 0; }

 private:
  uint32_t losses_ = 0;  // since the last good service
  int64_t last_loss_ns_ = 0;
  int64_t rests_until_ns_ = 0;  // while it is bad
  bool bad_ = false;
};

// The one name of a device that can be lost: "cuda" is "cuda:0". Empty for the cpu.
inline std::string LosableDevice(const std::string& device) {
  if (device == "cpu") return "";
  return device == "cuda" ? "cuda:0" : device;
}

}  // namespace mpsd
