// Timeline: counts the events of a run's window in spans of equal length.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mpsd::traffic {

// Each thread has its own; they are merged at the end. Thread-compatible.
class Timeline {
 public:
  enum Event : size_t {
    kDue,    // open loop: a request was due
    kGood,   // a request got a right answer within the SLO
    kOther,  // a request ended otherwise
    kEventCount,
  };

  // A timeline that counts nothing.
  Timeline() = default;
  // Spans of that length; 0 counts nothing.
  explicit Timeline(int64_t span_ns) : span_ns_(span_ns) {}

  // Counts an event at this time after the window's begin. REQUIRES: since_begin_ns >= 0.
  void Count(Event event, int64_t since_begin_ns) {
    if (span_ns_ == 0) return;
    std::vector<uint64_t>& counts = counts_[event];
    const auto index = static_cast<size_t>(since_begin_ns / span_ns_);
    if (index >= counts.size()) counts.resize(index + 1);
    ++counts[index];
  }

  // REQUIRES: both have spans of the same length, or one of them counts nothing.
  void Merge(const Timeline& other);

  int64_t span_ns() const { return span_ns_; }
  // By span, from the window's begin to the last span that has such an event.
  const std::vector<uint64_t>& counts(Event event) const { return counts_[event]; }

 private:
  int64_t span_ns_ = 0;
  std::array<std::vector<uint64_t>, kEventCount> counts_;
};

}  // namespace mpsd::traffic
