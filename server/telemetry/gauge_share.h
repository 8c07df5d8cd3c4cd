// GaugeShare: one owner's part of a gauge. The gauge shows the sum.
//
// A model's counters outlive its generations. While an old generation drains beside the new one,
// the gauge shows both together:
//
//   gauge queued_requests = 7 ─┬─ share of the old pool's queue: 3, then 2, 1, 0
//                              └─ share of the new pool's queue: 4
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// The destructor takes the share back. Owned by what it describes, such as a pool's queue, and
// usually guarded by the same mutex. The gauge outlives it. Thread-compatible; other threads may
// have shares in the same gauge. Never blocks.
class GaugeShare {
 public:
  explicit GaugeShare(std::atomic<int64_t>* gauge) : gauge_(gauge) {}
  ~GaugeShare() { Set(0); }
  GaugeShare(const GaugeShare&) = delete;
  GaugeShare& operator=(const GaugeShare&) = delete;

  // The gauge has no order with other memory: a scrape may see it before or after the change.
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
