// GaugeShare: the part that one of several owners adds to a gauge. The gauge shows the sum.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// While an old generation of a model drains beside the new one, both have a share in one gauge. The
// destructor takes the share back. Thread-compatible. Other threads may have shares in the same
// gauge, which outlives them.
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
