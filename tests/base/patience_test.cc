#include "proto/base/patience.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

constexpr int64_t kSoonNs = Patience::kLookNs / 4;
constexpr int64_t kLateNs = Patience::kLookNs * 100;

// A thread that waits for work again and again.
class PatienceTest : public testing::Test {
 protected:
  // Work comes so late. Returns whether the thread was still looking.
  bool WorkComesAfter(int64_t idle_ns) {
    patience_.LooksOn(now_ns_, cores_are_left_);
    now_ns_ += idle_ns;
    const bool looked = patience_.LooksOn(now_ns_, cores_are_left_);
    patience_.Found(now_ns_);
    return looked;
  }
  void Learn(int64_t idle_ns) {
    for (int i = 0; i < 100; ++i) WorkComesAfter(idle_ns);
  }

  Patience patience_;
  int64_t now_ns_ = 0;
  bool cores_are_left_ = true;
};

TEST_F(PatienceTest, LooksOnWhereWorkComesSoon) {
  EXPECT_FALSE(WorkComesAfter(kSoonNs)) << "it is not known yet";
  Learn(kSoonNs);
  EXPECT_TRUE(WorkComesAfter(kSoonNs));
  EXPECT_FALSE(WorkComesAfter(Patience::kLookNs)) << "this time it does not";
}

TEST_F(PatienceTest, SleepsAtOnceWhereWorkComesLate) {
  Learn(kSoonNs);
  Learn(kLateNs);
  EXPECT_FALSE(WorkComesAfter(0));
}

TEST_F(PatienceTest, OneLongPauseIsSoonForgotten) {
  Learn(kSoonNs);
  WorkComesAfter(kLateNs);
  EXPECT_TRUE(WorkComesAfter(kSoonNs));
}

TEST_F(PatienceTest, SleepsAtOnceWithoutIdleCores) {
  Learn(kSoonNs);
  cores_are_left_ = false;
  EXPECT_FALSE(WorkComesAfter(0));
}

TEST_F(PatienceTest, WorkWithoutAWaitTeachesNothing) {
  Learn(kSoonNs);
  for (int i = 0; i < 100; ++i) {
    now_ns_ += kLateNs;  // the work itself takes long
    patience_.Found(now_ns_);
  }
  EXPECT_TRUE(WorkComesAfter(kSoonNs));
}

}  // namespace
}  // namespace mpsd
