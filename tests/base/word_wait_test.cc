#include "proto/base/word_wait.h"

#include <gmock/gmock.h>

#include <vector>

namespace mpsd::platform {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WordWait, OnlyATimeOutIsATimeOut) {
  EXPECT_EQ(WordWaitOf(ETIMEDOUT), WordWait::kTimedOut);
  for (const int error : {0, EAGAIN, EINTR}) EXPECT_EQ(WordWaitOf(error), WordWait::kOver) << error;
  for (const int error : {EFAULT, EINVAL, ENOMEM, ENOSYS, EPERM}) {
    EXPECT_EQ(WordWaitOf(error), WordWait::kRefused) << error;
  }
}

TEST(WordWait, EndsAsTheCallSays) {
  const std::atomic<uint32_t> word = 0;
  EXPECT_TRUE(EndWordWait(0, word, 0, 3600 * kNsPerSecond));
  EXPECT_TRUE(EndWordWait(EINTR, word, 0, 3600 * kNsPerSecond));
  EXPECT_FALSE(EndWordWait(ETIMEDOUT, word, 0, 3600 * kNsPerSecond));
}

// A caller that was told "woken" would come again at once, and never sleep.
TEST(WordWait, ARefusedWaitIsSleptAllTheSame) {
  const std::atomic<uint32_t> word = 0;
  EXPECT_FALSE(EndWordWait(EFAULT, word, 0, 2 * kWordLookNs));
  EXPECT_TRUE(EndWordWait(EFAULT, word, 1, 3600 * kNsPerSecond)) << "the word had changed before";
}

TEST(WordWait, APolledWordIsSeenAtTheNextLook) {
  std::atomic<uint32_t> word = 7;
  int sleeps = 0;
  EXPECT_TRUE(PollWord(word, 7, 10 * kWordLookNs, [&](int64_t) {
    if (++sleeps == 3) word = 8;
  }));
  EXPECT_EQ(sleeps, 3);
}

TEST(WordWait, PollingEndsWithTheTimeOut) {
  const std::atomic<uint32_t> word = 7;
  std::vector<int64_t> slept_ns;
  const auto sleep = [&](int64_t ns) { slept_ns.push_back(ns); };
  EXPECT_FALSE(PollWord(word, 7, 2 * kWordLookNs + 5, sleep));
  EXPECT_THAT(slept_ns, ElementsAre(kWordLookNs, kWordLookNs, 5));
  slept_ns.clear();
  EXPECT_FALSE(PollWord(word, 7, 0, sleep));
  EXPECT_THAT(slept_ns, IsEmpty());
}

}  // namespace
}  // namespace mpsd::platform
