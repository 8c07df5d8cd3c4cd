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
// Owned by the model's TorchRuntime. Only the parameter `device_inflight` limits the gate, for a
// device whose runtime cannot bear several lanes at once. Lanes then wait here, without a time
// limit and in no particular order. The front end's watchdog counts the wait as the batch's own
// time. A gate made with 0 permits never blocks, and takes no lock.
//
// Invariant: unless made with 0 permits, the gate never has more permits alive than it was made
// with.
//
// Thread-safe.
class DeviceGate {
 public:
  explicit DeviceGate(uint32_t permits) : limited_(permits > 0), free_(permits) {}

  // The right to use the device, for as long as this object lives. The constructor blocks until a
  // permit is free. Thread-compatible; made and destroyed by one lane's thread.
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
