// TurnWait: how long a pool's batches wait for their turns on what models share.
#pragma once

#include <cstdint>

namespace mpsd {

// A batch may need what other models hold: a turn on the device, or a named resource. Admission
// counts one such wait for each batch of a lane ahead. A turn that was free at once took no time.
//
//   lanes     █████████▏      ·waits·      ▕█████████▏      ·waits·      ▕█████████
//   turns              ╰───────Note()──────╯
//
// A fading mean of the last eight turns. Thread-compatible: its pool's mutex guards it.
class TurnWait {
 public:
  void Note(int64_t wait_ns) {
    mean_ns_ += static_cast<int64_t>(kWeight * static_cast<double>(wait_ns - mean_ns_));
  }

  // Nobody waits any more, but no turn came: it would have taken at least this long.
  void NoteInVain(int64_t wait_ns) {
    if (wait_ns > mean_ns_) Note(wait_ns);
  }

  int64_t mean_ns() const { return mean_ns_; }

 private:
  static constexpr double kWeight = 1.0 / 8;

  int64_t mean_ns_ = 0;
};

}  // namespace mpsd
