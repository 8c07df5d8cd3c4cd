// DeviceGate: limits how many lanes use the device at once.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// Lets only as many lanes run as the parameter `device_inflight` says; with 0 permits it never
// blocks. Lanes wait without a time limit and in no particular order. The watchdog counts the wait
// as the batch's time. Owned by the model's TorchRuntime. Thread-safe.
//
// Invariant: unless made with 0 permits, the gate never has more permits alive than it was made
// with.
class DeviceGate {
 public:
  explicit DeviceGate(uint32_t permits) : limited_(permits > 0), free_(permits) {}

  // The constructor blocks until a permit is free. Thread-compatible; made and destroyed by one
  // lane's thread.
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
