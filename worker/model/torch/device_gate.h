// DeviceGate: limits how many lanes use the device at once.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace mpsd {

// Step 9 of a request's path, around a run:
//
//   const DeviceGate::Permit permit(&gate);
//   … the run, until the lane's stream is done …
//
// Owned by the model's TorchRuntime. Closed only by the parameter `device_inflight`, where a
// device's runtime cannot bear several lanes at once; lanes then wait in it, without a limit of
// time and in no particular order, while the front end's watchdog counts the wait as the batch's
// own time. With 0 permits it never blocks, and takes no lock.
//
// Invariant: at most as many permits live as the gate was made with, if that is not 0.
//
// Thread-safe.
class DeviceGate {
 public:
  explicit DeviceGate(uint32_t permits) : limited_(permits > 0), free_(permits) {}

  // The right to use the device, while it lives. The constructor blocks until one is free.
  // Thread-compatible; made and destroyed by one lane's thread.
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
