#include "worker/model/runtime/mps_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

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

TEST(LanesAllowed, ALibtorchWithOneStreamForLanesHasOneLane) {
  for (const RuntimeKind kind : {RuntimeKind::kStock, RuntimeKind::kUpstreamPool}) {
    std::string why;
    EXPECT_EQ(LanesAllowed("mps:0", kind, KnownCensus(), 4, &why), 1u);
    EXPECT_THAT(why, HasSubstr(NameOf(kind)));
  }
}

TEST(LanesAllowed, APatchedOneHasAsManyAsItsStreamsButForLayerNormAndAttention) {
  std::string why;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, KnownCensus(), 31, &why), 31u);
  EXPECT_THAT(why, IsEmpty());
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, KnownCensus(), 32, &why), 31u);
  EXPECT_EQ(why, "mps is served with 31 lanes");
  Census census = KnownCensus();
  census.layer_norm = 1;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, census, 4, &why), 1u);
  census = KnownCensus();
  census.attention = 1;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, census, 4, &why), 1u);
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, Census(), 4, &why), 1u);
  EXPECT_THAT(why, HasSubstr("not known"));
}

// Upstream encodes some operators from one graph or kernel object of the process.
TEST(LanesAllowed, AnUpstreamGuardHasTwoButForWhatThreadsWouldEncodeTogether) {
  const RuntimeKind kind = RuntimeKind::kUpstreamGuard;
  std::string why;
  Census census = KnownCensus();
  census.operators = 9;
  census.embedding = 1;
  census.contiguous = 1;
  EXPECT_EQ(LanesAllowed("mps:0", kind, census, 2, &why), 2u);
  EXPECT_THAT(why, IsEmpty());
  EXPECT_EQ(LanesAllowed("mps:0", kind, census, 8, &why), 2u);
  EXPECT_EQ(why, "mps is served with 2 lanes");
  const std::pair<const char*, uint32_t Census::*> kinds[] = {
      {"layer_norm", &Census::layer_norm},   {"attention", &Census::attention},
      {"linear", &Census::linear},           {"matmul", &Census::matmul},
      {"convolution", &Census::convolution}, {"recurrent", &Census::recurrent}};
  for (const auto& [name, count] : kinds) {
    Census unsafe = census;
    unsafe.*count = 1;
    EXPECT_EQ(LanesAllowed("mps:0", kind, unsafe, 2, &why), 1u) << name;
    EXPECT_EQ(why, "operators of " + std::string(name) +
                       " allow one lane on mps with a libtorch of kind upstream_guard");
  }
  EXPECT_EQ(LanesAllowed("mps:0", kind, Census(), 2, &why), 1u);
  EXPECT_THAT(why, HasSubstr("not known"));
}

TEST(LanesAllowed, WhatIsUnsafeIsNamedTogether) {
  Census census = KnownCensus();
  census.layer_norm = 2;
  census.matmul = 3;
  std::string why;
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kUpstreamGuard, census, 2, &why), 1u);
  EXPECT_THAT(why, HasSubstr("of layer_norm, matmul allow"));
  EXPECT_EQ(LanesAllowed("mps", RuntimeKind::kPatched, census, 2, &why), 1u);
  EXPECT_THAT(why, HasSubstr("of layer_norm allow")) << "a patched one mends the other";
}

TEST(NeedsCheck, IsForSeveralLanesThatNobodyHasPublished) {
  EXPECT_TRUE(NeedsCheck("mps:0", RuntimeKind::kUpstreamGuard));
  EXPECT_FALSE(NeedsCheck("cpu", RuntimeKind::kUpstreamGuard));
  EXPECT_FALSE(NeedsCheck("cuda:0", RuntimeKind::kUpstreamGuard));
  EXPECT_FALSE(NeedsCheck("mps:0", RuntimeKind::kPatched));
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
