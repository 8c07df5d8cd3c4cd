// GaugeShare: the part that one of several owners adds to a gauge. The gauge shows the sum.
//
// The counters of a model outlive its generations. While an old generation drains beside the new
// one, both have requests in a queue and leases in a segment: if each of them stored its own figure
// into the gauge, the gauge would show whichever stored last. With shares it shows both together:
//
//   gauge queued_requests = 7 ─┬─ share of the old pool's queue: 3, then 2, 1, 0
//                              └─ share of the new pool's queue: 4
//
// A gauge that has only one owner for good needs no share.
#pragma once

#include <atomic>
#include <cstdint>

namespace mpsd {

// Set() replaces the share, whatever it was before, so an owner never needs to say by how much its
// figure has changed. The destructor takes the share back: an owner that ends leaves nothing in the
// gauge. Owned by what it shows a figure of, such as a pool's queue, and as a rule guarded by the
// same mutex. Thread-compatible. Other threads may have shares in the same gauge, which outlives
// them. Never blocks; a figure that has not changed costs no access to the gauge.
class GaugeShare {
 public:
  explicit GaugeShare(std::atomic<int64_t>* gauge) : gauge_(gauge) {}
  ~GaugeShare() { Set(0); }
  GaugeShare(const GaugeShare&) = delete;
  GaugeShare& operator=(const GaugeShare&) = delete;

  // The gauge has no order with any other memory: a scrape may see it before or after the change
  // that it tells of.
  void Set(int64_t value) {
    if (value == value_) return;
    gauge_->fetch_add(value - value_, std::memory_order_relaxed);
    value_ = value;
  }

 private:
  std::atomic<int64_t>* const gauge_;
  int64_t value_ = 0;  // what the gauge has of this owner
};

}  // namespace mpsd
