#include "worker/model/torch/thread_share.h"

#include <gtest/gtest.h>

#include <optional>

namespace mpsd {
namespace {

TEST(ThreadShare, ALoneRunHasAllCores) {
  ThreadShare share(/*most=*/4, /*cores=*/4);
  EXPECT_EQ(ThreadShare::Part(&share).threads(), 4);
  EXPECT_EQ(ThreadShare::Part(&share).threads(), 4) << "the one before has ended";
}

TEST(ThreadShare, RunsThatBeginLaterHaveFewer) {
  ThreadShare share(/*most=*/4, /*cores=*/4);
  const ThreadShare::Part first(&share);
  std::optional<ThreadShare::Part> second(std::in_place, &share);
  EXPECT_EQ(second->threads(), 2);
  EXPECT_EQ(ThreadShare::Part(&share).threads(), 1) << "a third of four cores";
  second.reset();
  EXPECT_EQ(ThreadShare::Part(&share).threads(), 2);
  EXPECT_EQ(first.threads(), 4) << "it goes on with what it began with";
}

TEST(ThreadShare, EachRunHasAThreadAndNoneHasMoreThanTheMost) {
  ThreadShare narrow(/*most=*/2, /*cores=*/16);
  EXPECT_EQ(ThreadShare::Part(&narrow).threads(), 2);
  ThreadShare crowded(/*most=*/1, /*cores=*/1);
  const ThreadShare::Part first(&crowded);
  EXPECT_EQ(ThreadShare::Part(&crowded).threads(), 1);
}

TEST(ThreadShare, ANumberThatTheConfigSetsIsKept) {
  ThreadShare share(/*most=*/3, /*cores=*/2 * 3);
  const ThreadShare::Part first(&share);
  EXPECT_EQ(ThreadShare::Part(&share).threads(), 3);
}

}  // namespace
}  // namespace mpsd
