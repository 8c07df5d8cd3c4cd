#include "proto/base/word_wait.h"

#include <cstdio>
#include <cstring>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace mpsd::platform {
namespace {

void SayOnce(int error) {
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;
  std::fprintf(stderr, "mpsd: the system does not wait on shared memory (%s); looks each ms\n",
               std::strerror(error));
}

}  // namespace

bool EndWordWait(int error, const std::atomic<uint32_t>& word, uint32_t expected,
                 int64_t timeout_ns) {
  const WordWait end = WordWaitOf(error);
  if (end != WordWait::kRefused) return end == WordWait::kOver;
  SayOnce(error);
  return PollWord(word, expected, timeout_ns,
                  [](int64_t ns) { absl::SleepFor(absl::Nanoseconds(ns)); });
}

}  // namespace mpsd::platform
