// When a device on which worker after worker is lost is left alone for a while. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "proto/base/clock.h"

namespace mpsd {

inline constexpr uint32_t kLossesInARow = 3;
inline constexpr int64_t kFirstDeviceRestNs = kNsPerSecond;
inline constexpr int64_t kLastDeviceRestNs = 30 * kNsPerSecond;

// Of one device, whatever models run on it. A bad one is asked again now and then by one worker, so
// that a reset of its driver brings it back without anybody's help. What serves on it is left to
// serve: the loss may be that of one process. Thread-compatible.
class DeviceHealth {
 public:
  // A worker that was started at `started_ns` has lost the device. Those that were there when it
  // was lost before tell of the same loss: the device takes all of a CUDA Multi-Process Service.
  void OnLost(int64_t started_ns, int64_t now_ns) {
    if (losses_ > 0 && started_ns <= last_loss_ns_) return;
    ++losses_;
    last_loss_ns_ = now_ns;
    if (losses_ < kLossesInARow) return;
    const uint32_t doublings = std::min(losses_ - kLossesInARow, 10U);
    bad_ = true;
    rests_until_ns_ = now_ns + std::min(kLastDeviceRestNs, kFirstDeviceRestNs << doublings);
  }

  // A worker serves on it: others may start. Whether that lasts, good service tells.
  void OnServing() { bad_ = false; }

  // A worker that has served for a while has answered just now.
  void OnGoodService() {
    losses_ = 0;
    bad_ = false;
  }

  // Whether a worker may start on it now; true makes it the probe of one that has rested.
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

// One name for each device that can be lost: "cuda" is the first of its kind. Empty for the cpu.
inline std::string LosableDevice(const std::string& device) {
  if (device == "cpu") return "";
  return device == "cuda" ? "cuda:0" : device;
}

}  // namespace mpsd
