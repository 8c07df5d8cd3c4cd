// WordWait: how a wait on a word of shared memory ended, and how it goes on if the system refuses
// it. A part of the seam to the operating system, shared by its two files.
//
// A system call that waits for a word to change may end by a wake, a signal or its time-out. It may
// also fail every time, for example for a mapping that it cannot read. A caller that took this for
// a wake would keep a processor busy forever.
//
//   WaitOnWord ─▶ system call ─▶ EndWordWait ─┬─ kOver      true: the caller looks at the word
//                                             ├─ kTimedOut  false
//                                             ╰─ kRefused   PollWord for the rest of the time
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "proto/base/clock.h"

namespace mpsd::platform {

// Interval between looks at a word that the system refuses to wait on.
inline constexpr int64_t kWordLookNs = kNsPerMs;

// How a system call that waited on a word ended.
enum class WordWait {
  kOver,      // by a wake, or anything else after which the caller must look again
  kTimedOut,  // nobody woke the sleeper
  kRefused,   // the system did not wait, and never will
};

// `error` is errno after the call, 0 if it succeeded. EAGAIN: the word had changed before. Pure.
inline WordWait WordWaitOf(int error) {
  if (error == 0 || error == EAGAIN || error == EINTR) return WordWait::kOver;
  return error == ETIMEDOUT ? WordWait::kTimedOut : WordWait::kRefused;
}

// Looks at the word every kWordLookNs, and calls `sleep(ns)` in between. A wake during a sleep is
// seen at its end, so a request may wait up to kWordLookNs too long. False if `timeout_ns` have
// passed and the word still holds `expected`. Thread-safe, if `sleep` is.
template <typename Sleep>
bool PollWord(const std::atomic<uint32_t>& word, uint32_t expected, int64_t timeout_ns,
              Sleep sleep) {
  int64_t slept_ns = 0;
  while (word.load(std::memory_order_acquire) == expected) {
    if (slept_ns >= timeout_ns) return false;
    const int64_t piece_ns = std::min(kWordLookNs, timeout_ns - slept_ns);
    sleep(piece_ns);
    slept_ns += piece_ns;
  }
  return true;
}

// The result of WaitOnWord() of platform.h after a call that ended with `error`. If the system
// refused, PollWord() waits for the rest of the time, and stderr gets a line once per process.
// Thread-safe.
bool EndWordWait(int error, const std::atomic<uint32_t>& word, uint32_t expected,
                 int64_t timeout_ns);

}  // namespace mpsd::platform
