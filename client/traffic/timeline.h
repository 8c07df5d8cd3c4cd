// Timeline: counts the events of a run's window in spans of equal length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsd::traffic {

// Each thread has its own. Thread-compatible.
class Timeline {
 public:
  enum Event : size_t {
    kDue,    // open loop
    kGood,   // right within the SLO
    kOther,  // ended otherwise
    kEventCount,
  };

  // Counts nothing.
  Timeline() = default;
  // With 0 it counts nothing.
  explicit Timeline(int64_t span_ns) : span_ns_(span_ns) {}

  // REQUIRES: since_begin_ns >= 0.
  void Count(Event event, int64_t since_begin_ns) {
    if (span_ns_ == 0) return;
    std::vector<uint64_t>& counts = counts_[event];
    const auto index = static_cast<size_t>(since_begin_ns / span_ns_);
    if (index >= counts.size()) counts.resize(index + 1);
    ++counts[index];
  }

  // REQUIRES: spans of the same length, or one counts nothing.
  void Merge(const Timeline& other);

  int64_t span_ns() const { return span_ns_; }
  // One count for each span, to the last one that has such an event.
  const std::vector<uint64_t>& counts(Event event) const { return counts_[event]; }

 private:
  int64_t span_ns_ = 0;
  std::array<std::vector<uint64_t>, kEventCount> counts_;
};

}  // namespace mpsd::traffic
