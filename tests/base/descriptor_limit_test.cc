#include "proto/base/descriptor_limit.h"

#include <gmock/gmock.h>

#include <vector>

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A system that takes at most so many descriptors.
struct FakeSystem {
  rlim_t takes_at_most = RLIM_INFINITY;
  std::vector<rlim_t> tried = {};

  uint64_t Raise(rlimit limit, uint64_t bound) {
    return RaiseDescriptorLimit(limit, bound, [this](const rlimit& wanted) {
      tried.push_back(wanted.rlim_cur);
      return wanted.rlim_cur <= takes_at_most;
    });
  }
};

TEST(DescriptorLimit, IsTheHardOneWhereTheSystemTakesIt) {
  FakeSystem linux_host;
  EXPECT_EQ(linux_host.Raise({1024, 1048576}, 0), 1048576u);
  EXPECT_THAT(linux_host.tried, ElementsAre(1048576));
}

TEST(DescriptorLimit, IsTheSystemsOwnBoundWhereTheHardOneIsRefused) {
  FakeSystem mac{.takes_at_most = 61440};
  EXPECT_EQ(mac.Raise({256, RLIM_INFINITY}, 61440), 61440u);
  EXPECT_THAT(mac.tried, ElementsAre(RLIM_INFINITY, 61440));
}

TEST(DescriptorLimit, IsTheSureOneWhereAllElseIsRefused) {
  FakeSystem mac{.takes_at_most = kSureDescriptors};
  EXPECT_EQ(mac.Raise({256, RLIM_INFINITY}, 61440), kSureDescriptors);
  FakeSystem silent_mac{.takes_at_most = kSureDescriptors};
  EXPECT_EQ(silent_mac.Raise({256, RLIM_INFINITY}, 0), kSureDescriptors);
}

TEST(DescriptorLimit, IsNeverAboveTheHardOne) {
  FakeSystem mac;
  EXPECT_EQ(mac.Raise({256, 4096}, 61440), 4096u);
}

TEST(DescriptorLimit, StaysWhereNothingHigherIsTaken) {
  FakeSystem stubborn{.takes_at_most = 0};
  EXPECT_EQ(stubborn.Raise({256, RLIM_INFINITY}, 61440), 256u);
  FakeSystem raised;
  EXPECT_EQ(raised.Raise({65536, 65536}, 61440), 65536u);
  EXPECT_THAT(raised.tried, IsEmpty());
}

}  // namespace
}  // namespace mpsd
