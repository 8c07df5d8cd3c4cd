// WordWait: what the end of a wait on a word of shared memory means, and how the wait goes on where
// the system refuses it. A part of the seam to the operating system, shared by its two files.
//
// A system call that waits for a word to change may end by a wake, by a signal, by its time-out, or
// with an error that comes again at every call, such as one for a mapping that it cannot read. A
// caller that took such an error for a wake would look at the word, find nothing, wait again, and
// so keep a processor busy for good.
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

// How often a word is looked at that the system does not wait on.
inline constexpr int64_t kWordLookNs = kNsPerMs;

// How a system call that waited on a word has ended.
enum class WordWait {
  kOver,      // by a wake, or something else after which the caller looks at the word again
  kTimedOut,  // nobody woke the sleeper
  kRefused,   // the system did not wait, and will not at the next call
};

// `error` is errno after the call, 0 where it succeeded. EAGAIN: the word had changed before. Pure.
inline WordWait WordWaitOf(int error) {
  if (error == 0 || error == EAGAIN || error == EINTR) return WordWait::kOver;
  return error == ETIMEDOUT ? WordWait::kTimedOut : WordWait::kRefused;
}

// Looks at the word every kWordLookNs, and calls `sleep(ns)` in between. A wake that comes during a
// sleep is seen at its end, so a request waits for up to kWordLookNs longer than it has to. False
// when `timeout_ns` were slept and the word still holds `expected`. Thread-safe, if `sleep` is.
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

// What WaitOnWord() of platform.h returns after a call that ended with `error`. Where the system
// refused, the rest of the wait is PollWord(), and stderr gets a line, once a process. Thread-safe.
bool EndWordWait(int error, const std::atomic<uint32_t>& word, uint32_t expected,
                 int64_t timeout_ns);

}  // namespace mpsd::platform
