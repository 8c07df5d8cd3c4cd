// StandingQueue: whether a queue has stopped draining, and how long new requests may then wait.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace mpsd {

// For requests without a deadline of their own. A burst drains, so it is let in. A queue stands
// once its waits stay above the target for a whole interval. From then on a request is refused if
// it would wait longer than the target, until waits are half of the target. (The idea is CoDel, RFC
// 8289, moved to the queue's end: a client that must be refused should not wait first.)
//
//   wait │       ╭────────╮          interval over: it stands
//        │    ╭──╯        ╰╮
// target │╌╌╌╱╌╌╌╌╌╌╌╌╌╌╌╌╌╌╲╌╌─────────────╮      who would wait longer is refused
//   half │╌╌╱╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╰──    the load has fallen: it does not stand
//        └──┴──────┴─────────────────────────── time
//
// Thread-compatible: its pool's mutex guards it.
class StandingQueue {
 public:
  static constexpr int64_t kAnyNs = std::numeric_limits<int64_t>::max() / 4;
  static constexpr int64_t kLeastIntervalNs = 100'000'000;

  // With `target_ns` 0 no queue ever stands.
  explicit StandingQueue(int64_t target_ns) : target_ns_(target_ns) {}

  // The wait of a batch's first such request. `now_ns` never falls.
  void NoteWait(int64_t wait_ns, int64_t now_ns) {
    if (target_ns_ == 0) return;
    if (wait_ns < (stands_ ? target_ns_ / 2 : target_ns_)) {
      stands_ = false;
      is_above_ = false;
    } else if (!is_above_) {
      is_above_ = true;
      above_since_ns_ = now_ns;
    }
    if (is_above_ && now_ns - above_since_ns_ >= IntervalNs()) stands_ = true;
  }

  bool stands() const { return stands_; }

  int64_t LongestWaitNs() const { return stands_ ? target_ns_ : kAnyNs; }

 private:
  int64_t IntervalNs() const { return std::max(kLeastIntervalNs, 2 * target_ns_); }

  const int64_t target_ns_;
  bool is_above_ = false;  // all waits since `above_since_ns_` exceeded their bound
  bool stands_ = false;
  int64_t above_since_ns_ = 0;
};

}  // namespace mpsd
