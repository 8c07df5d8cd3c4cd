#include "server/start_progress.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kStartNs = 1000;

TEST(StartProgress, AShortStartSaysNothing) {
  StartProgress progress(1, kStartNs);
  EXPECT_EQ(progress.LineAt(kStartNs, {"m"}), "");
  EXPECT_EQ(progress.LineAt(kStartNs + kFirstProgressNs - 1, {"m"}), "");
  EXPECT_EQ(progress.LineAt(kStartNs + kFirstProgressNs, {}), "");
}

TEST(StartProgress, NamesAModelThatLoadsAndCountsThoseThatAreDone) {
  StartProgress progress(3, kStartNs);
  EXPECT_EQ(progress.LineAt(kStartNs + kFirstProgressNs, {"a", "b"}),
            "loading a and 1 more (1 of 3 done), 2 s\n");
  EXPECT_EQ(progress.LineAt(kStartNs + 5 * kNsPerSecond, {"b"}), "loading b (2 of 3 done), 5 s\n");
}

TEST(StartProgress, ALongStartSaysLessAndLess) {
  StartProgress progress(1, kStartNs);
  std::vector<int64_t> seconds;
  for (int64_t at = 0; at <= 600; ++at) {
    if (!progress.LineAt(kStartNs + at * kNsPerSecond, {"m"}).empty()) seconds.push_back(at);
  }
  EXPECT_EQ(seconds, (std::vector<int64_t>{2, 4, 6, 9, 14, 21, 32, 48, 72, 108, 162, 222, 282, 342,
                                           402, 462, 522, 582}));
}

}  // namespace
}  // namespace mpsd
