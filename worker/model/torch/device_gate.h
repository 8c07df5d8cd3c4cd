// DeviceGate: how many lanes may use the device at once.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// Thread-safe. With 0 permits it is open to all. Lanes wait in it, which is meant: it is turned on
// by name where a runtime cannot bear more.
class DeviceGate {
 public:
  explicit DeviceGate(uint32_t permits) : limited_(permits > 0), free_(permits) {}

  // The right to use the device, for as long as it lives. Thread-compatible.
  class Permit {
   public:
    explicit Permit(DeviceGate* gate) : gate_(gate) { gate_->Enter(); }
    Permit(const Permit&) = delete;
    Permit& operator=(const Permit&) = delete;
    ~Permit() { gate_->Leave(); }

   private:
    DeviceGate* const gate_;
  };

 private:
  void Enter() {
    if (!limited_) return;
    absl::MutexLock lock(&mu_);
    const auto is_free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return free_ > 0; };
    mu_.Await(absl::Condition(&is_free));
    --free_;
  }
  void Leave() {
    if (!limited_) return;
    absl::MutexLock lock(&mu_);
    ++free_;
  }

  const bool limited_;
  absl::Mutex mu_;
  uint32_t free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
