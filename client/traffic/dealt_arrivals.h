// DealtArrivals: one thread's part of the times of a run. Each thread draws all times, from the
// same seed, and takes every nth. So all threads together send what one thread alone would.
//
//   all        │ ││    │  │││
//   1st of 2   │  │       │ │
//   2nd of 2     │     │   │
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "client/traffic/arrivals.h"
#include "proto/base/check.h"

namespace mpsd::traffic {

// Thread-compatible.
class DealtArrivals final : public Arrivals {
 public:
  // REQUIRES: index < count.
  DealtArrivals(std::unique_ptr<Arrivals> all, uint32_t index, uint32_t count)
      : all_(std::move(all)), count_(count), others_first_(index) {
    MPSD_CHECK(index < count);
  }

  int64_t NextNs() override {
    for (; others_first_ > 0; --others_first_) all_->NextNs();
    others_first_ = count_ - 1;
    return all_->NextNs();
  }

 private:
  const std::unique_ptr<Arrivals> all_;
  const uint32_t count_;
  uint32_t others_first_;  // other threads' times before the next one
};

}  // namespace mpsd::traffic
