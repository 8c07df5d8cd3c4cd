// Patience: how long a thread looks for work before it sleeps. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mpsd {

// A sleeper begins some 10 to 50 microseconds late; a thread that looks on keeps a core busy. So it
// looks on only while cores are left, and work usually comes within kLookNs. Thread-compatible.
//
//   while (!FoundWork()) {
//     if (patience.LooksOn(now, cores_are_left)) continue;
//     Sleep();
//   }
//   patience.Found(now);
class Patience {
 public:
  static constexpr int64_t kLookNs = 100'000;

  // Called if nothing was found. True: look again at once.
  bool LooksOn(int64_t now_ns, bool cores_are_left) {
    if (idle_since_ns_ == kBusy) idle_since_ns_ = now_ns;
    return cores_are_left && usual_ns_ < kLookNs && now_ns - idle_since_ns_ < kLookNs;
  }

  // Called after a look or a sleep that found work.
  void Found(int64_t now_ns) {
    if (idle_since_ns_ == kBusy) return;
    const int64_t idle_ns = std::min(now_ns - idle_since_ns_, kMostCountedNs);
    usual_ns_ += (idle_ns - usual_ns_) / kWeight;
    idle_since_ns_ = kBusy;
  }

 private:
  static constexpr int64_t kBusy = INT64_MIN;
  static constexpr int64_t kMostCountedNs =
      4 * kLookNs;  // so that one long pause does not count for ever
  static constexpr int64_t kWeight = 8;

  int64_t usual_ns_ = kMostCountedNs;  // how long work is usually away
  int64_t idle_since_ns_ = kBusy;
};

}  // namespace mpsd
