// TurnWait: how long a pool's batches wait for their turns on what models share.
#pragma once

#include <cstdint>

namespace mpsd {

// A lane that is free is no lane yet where a batch needs what other models hold: a turn on the
// device, or a named resource. Whoever is let in has to wait for these turns too, one for
// each batch of a lane ahead. So the pool learns how long they take, from asking in vain until
// taking; a turn that was there at once took no time.
//
//   lanes     █████████▏      ·waits·      ▕█████████▏      ·waits·      ▕█████████
//   turns              ╰───────Note()──────╯
//
// A mean that forgets: the last eight turns count most. Owned by PoolClaims. Thread-compatible:
// guarded by the pool's mutex. It reads no clock.
class TurnWait {
 public:
  // A batch has what it needs, and has waited so long for it.
  void Note(int64_t wait_ns) {
    mean_ns_ += static_cast<int64_t>(kWeight * static_cast<double>(wait_ns - mean_ns_));
  }

  // Nobody waits any more, without a turn: it would have taken at least so long.
  void NoteInVain(int64_t wait_ns) {
    if (wait_ns > mean_ns_) Note(wait_ns);
  }

  int64_t mean_ns() const { return mean_ns_; }

 private:
  static constexpr double kWeight = 1.0 / 8;

  int64_t mean_ns_ = 0;
};

}  // namespace mpsd
