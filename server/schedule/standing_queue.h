// StandingQueue: whether a queue has stopped draining, and how long new requests may wait then.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace mpsd {

// For requests without a deadline of their own: nothing else bounds their wait but the number of
// those who wait. A burst is a queue that drains, and is let in. A queue whose waits stay above the
// target for a whole interval stands: it makes everybody wait and serves nobody sooner. From then
// on a request is refused that would wait for longer than the target, until waits are half of it.
// (The idea is that of controlled delay, CoDel, RFC 8289, moved from the head of the queue to its
// end: a client that must go away had better not wait first.)
//
//   wait │       ╭────────╮          interval over: it stands
//        │    ╭──╯        ╰╮
// target │╌╌╌╱╌╌╌╌╌╌╌╌╌╌╌╌╌╌╲╌╌─────────────╮      who would wait longer is refused
//   half │╌╌╱╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╰──    the load has fallen: it does not stand
//        └──┴──────┴─────────────────────────── time
//
// Owned by a pool. Thread-compatible: guarded by the pool's mutex. It reads no clock.
class StandingQueue {
 public:
  static constexpr int64_t kAnyNs = std::numeric_limits<int64_t>::max() / 4;
  static constexpr int64_t kLeastIntervalNs = 100'000'000;

  // `target_ns` is 0: no queue is ever held to stand.
  explicit StandingQueue(int64_t target_ns) : target_ns_(target_ns) {}

  // The first such request of a batch has got its lane after that wait. `now_ns` never falls.
  // Nothing else changes what the queue is held for: while no batch begins, it stays that.
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

  // The longest wait with which a request is let in.
  int64_t LongestWaitNs() const { return stands_ ? target_ns_ : kAnyNs; }

 private:
  int64_t IntervalNs() const { return std::max(kLeastIntervalNs, 2 * target_ns_); }

  const int64_t target_ns_;
  bool is_above_ = false;  // each wait since `above_since_ns_` was above what it is compared with
  bool stands_ = false;
  int64_t above_since_ns_ = 0;
};

}  // namespace mpsd
