#include "server/pool/schedule/tenant_shares.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

TEST(TenantShares, OneTenantSharesWithNobody) {
  TenantShares shares;
  shares.Enter(0);
  EXPECT_FALSE(shares.is_shared());
  shares.Enter(2);
  EXPECT_TRUE(shares.is_shared());
}

TEST(TenantShares, CountsTheLaneTimeOfEach) {
  TenantShares shares;
  shares.Enter(0);
  shares.Enter(1);
  shares.Charge(0, 30);
  shares.Charge(1, 10);
  shares.Charge(1, 10);
  EXPECT_EQ(shares.served_ns(0), 30);
  EXPECT_EQ(shares.served_ns(1), 20);
  shares.Refund(0, 30);
  EXPECT_EQ(shares.served_ns(0), 0);
}

TEST(TenantShares, WhoWasAwayHasSavedNothingUp) {
  TenantShares shares;
  shares.Enter(0);
  shares.Enter(1);
  for (int i = 0; i < 10; ++i) shares.Charge(0, 10);
  shares.Enter(1);
  EXPECT_EQ(shares.served_ns(1), 90) << "as much as the other had when it was last served";
  EXPECT_LT(shares.served_ns(1), shares.served_ns(0)) << "so it is next";
}

TEST(TenantShares, WhoIsNewHasSavedNothingUpEither) {
  TenantShares shares;
  shares.Enter(0);
  for (int i = 0; i < 10; ++i) shares.Charge(0, 10);
  shares.Enter(1);
  EXPECT_EQ(shares.served_ns(1), 90);
}

TEST(TenantShares, WhoHasHadMoreStillHasWhenItComesBack) {
  TenantShares shares;
  shares.Enter(0);
  shares.Enter(1);
  shares.Charge(0, 100);
  shares.Charge(1, 10);
  shares.Enter(0);
  EXPECT_EQ(shares.served_ns(0), 100);
}

TEST(TenantShares, ANumberThatBeginsAnewHasNoDebt) {
  TenantShares shares;
  shares.Enter(0);
  shares.Enter(1);
  shares.Charge(0, 1000);
  shares.Charge(1, 10);
  shares.Restart(0);
  EXPECT_EQ(shares.served_ns(0), 0);
  shares.Restart(2);
  EXPECT_EQ(shares.served_ns(2), 0);
}

}  // namespace
}  // namespace mpsd
