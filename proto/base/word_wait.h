// WordWait: how a wait on a word of shared memory ended, for platform_linux.cc and
// platform_macos.cc.
//
// A waiting system call may also fail every time, for example for a mapping that it cannot read. If
// that passed for a wake, the caller would keep a processor busy forever.
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

// The time between looks at a word that the system refuses to wait on.
inline constexpr int64_t kWordLookNs = kNsPerMs;

enum class WordWait {
  kOver,  // the caller must look again
  kTimedOut,
  kRefused,  // the system never will wait
};

// `error` is errno, 0 on success. EAGAIN: the word had changed before. Pure.
inline WordWait WordWaitOf(int error) {
  if (error == 0 || error == EAGAIN || error == EINTR) return WordWait::kOver;
  return error == ETIMEDOUT ? WordWait::kTimedOut : WordWait::kRefused;
}

// Looks every kWordLookNs, and calls `sleep(ns)` in between. False if `word` still holds `expected`
// after `timeout_ns`. Thread-safe, if `sleep` is.
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

// Gives WaitOnWord()'s result. If the system refused, polls for the rest of the time, and stderr
// gets a line once per process. Thread-safe.
bool EndWordWait(int error, const std::atomic<uint32_t>& word, uint32_t expected,
                 int64_t timeout_ns);

}  // namespace mpsd::platform
