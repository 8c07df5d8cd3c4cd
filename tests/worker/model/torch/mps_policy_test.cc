#include "worker/model/torch/mps_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Census KnownCensus() {
  Census census;
  census.known = true;
  return census;
}

TEST(LanesAllowed, OthersThanMpsBearWhatTheyAreTold) {
  std::string why;
  EXPECT_EQ(LanesAllowed("cpu", RuntimeKind::kStock, {}, 8, &why), 8u);
  EXPECT_EQ(LanesAllowed("cuda:0", RuntimeKind::kStock, {}, 32, &why), 32u);
  EXPECT_THAT(why, IsEmpty());
}

TEST(LanesAllowed, EveryReleasedLibtorchHasOneLaneOnMps) {
  for (const RuntimeKind kind :
       {RuntimeKind::kStock, RuntimeKind::kUpstreamPool, RuntimeKind::kUpstreamGuard}) {
    std::string why;
    EXPECT_EQ(LanesAllowed("mps:0", kind, KnownCensus(), 4, &why), 1u);
    EXPECT_THAT(why, HasSubstr(NameOf(kind)));
  }
}

TEST(LanesAllowed, APatchedOneHasTwoButForLayerNormAndAttention) {
  std::string why;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, KnownCensus(), 4, &why), 2u);
  Census census = KnownCensus();
  census.layer_norm = 1;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, census, 4, &why), 1u);
  census = KnownCensus();
  census.attention = 1;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, census, 4, &why), 1u);
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, Census(), 4, &why), 1u);
  EXPECT_THAT(why, HasSubstr("not known"));
}

TEST(LanesAllowed, OneLaneNeedsNoReason) {
  std::string why;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kStock, {}, 1, &why), 1u);
  EXPECT_THAT(why, IsEmpty());
}

TEST(DivideWatermarks, GivesEachProcessItsShare) {
  EXPECT_EQ(DivideWatermarks(50).high, "0.475");
  EXPECT_EQ(DivideWatermarks(50).low, "0.375");
  EXPECT_EQ(DivideWatermarks(100).high, "0.95") << "never all of it";
  EXPECT_EQ(DivideWatermarks(1000).high, "0.95");
}

}  // namespace
}  // namespace mpsd
