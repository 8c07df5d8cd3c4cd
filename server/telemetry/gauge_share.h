// GaugeShare: what one of several owners adds to a gauge that shows their sum.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// Thread-compatible; the gauge itself is shared by any threads, and outlives the share. While a
// model's old generation drains beside its new one both show on one gauge.
class GaugeShare {
 public:
  explicit GaugeShare(std::atomic<int64_t>* gauge) : gauge_(gauge) {}
  ~GaugeShare() { Set(0); }
  GaugeShare(const GaugeShare&) = delete;
  GaugeShare& operator=(const GaugeShare&) = delete;

  void Set(int64_t value) {
    if (value == value_) return;
    gauge_->fetch_add(value - value_, std::memory_order_relaxed);
    value_ = value;
  }

 private:
  std::atomic<int64_t>* const gauge_;
  int64_t value_ = 0;
};

}  // namespace mpsd
