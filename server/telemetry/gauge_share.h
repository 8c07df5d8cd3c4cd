// GaugeShare: one owner's part of a gauge. The gauge shows the sum.
//
// A model's counters outlive its generations. While an old generation drains beside the new one,
// both have requests in a queue and leases in a segment. If each stored its own figure, the gauge
// would show the latest one. With shares it shows both together:
//
//   gauge queued_requests = 7 ─┬─ share of the old pool's queue: 3, then 2, 1, 0
//                              └─ share of the new pool's queue: 4
//
// A gauge with a single owner needs no share.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// Set() replaces the share, so an owner need not know how much its figure has changed. The
// destructor takes the share back, so an owner leaves nothing in the gauge. Owned by what it
// describes, such as a pool's queue, and usually guarded by the same mutex. Thread-compatible;
// other threads may have shares in the same gauge, which outlives them. Never blocks. An unchanged
// figure does not touch the gauge.
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
  int64_t value_ = 0;  // this owner's part
};

}  // namespace mpsd
