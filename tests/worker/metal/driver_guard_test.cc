#include "worker/metal/driver_guard.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(DriverGuard, IsForLibrariesWithAPoolOfStreamsOnMps) {
  for (const RuntimeKind kind :
       {RuntimeKind::kPatched, RuntimeKind::kUpstreamPool, RuntimeKind::kUpstreamGuard}) {
    EXPECT_TRUE(NeedsDriverGuard("mps", kind)) << NameOf(kind);
    EXPECT_TRUE(NeedsDriverGuard("mps:0", kind)) << NameOf(kind);
    EXPECT_FALSE(NeedsDriverGuard("cpu", kind)) << NameOf(kind);
    EXPECT_FALSE(NeedsDriverGuard("cuda:0", kind)) << NameOf(kind);
  }
  EXPECT_FALSE(NeedsDriverGuard("mps", RuntimeKind::kStock));
}

TEST(DriverGuard, IsNoneWhereItIsNotNeeded) {
  const DriverGuardState state = HoldDriverGuard("cpu", RuntimeKind::kPatched);
  EXPECT_EQ(state.guard, DriverGuard::kNone);
  EXPECT_EQ(state.why, "");
}

#if !defined(__APPLE__)
TEST(DriverGuard, IsMissingWithAReasonWhereThereIsNoMetal) {
  for (int call = 0; call < 2; ++call) {
    const DriverGuardState state = HoldDriverGuard("mps", RuntimeKind::kPatched);
    EXPECT_EQ(state.guard, DriverGuard::kMissing);
    EXPECT_EQ(state.why, "there is no Metal on this platform");
  }
}
#endif

}  // namespace
}  // namespace mpsd
