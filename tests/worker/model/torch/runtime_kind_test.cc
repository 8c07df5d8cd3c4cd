#include "worker/model/torch/runtime_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kImpl[] = "_ZN2at3mps13MPSStreamImpl11getInstanceEv";
constexpr char kPool[] = "_ZN2at3mps17getStreamFromPoolEv";
constexpr char kSynchronizeAll[] = "_ZN2at3mps24synchronizeAllMPSStreamsENS0_8SyncTypeE";
constexpr char kById[] = "_ZN2at3mps13getStreamByIDEx";
constexpr char kPatchedPool[] = "_ZN2at3mps13MPSStreamPool8instanceEv";

std::string KindOf(const std::set<std::string>& symbols) {
  return RuntimeKindName(
      DetectRuntimeKind([&](const char* symbol) { return symbols.count(symbol) > 0; }));
}

TEST(RuntimeKind, IsToldBySymbols) {
  EXPECT_EQ(KindOf({}), "stock") << "a libtorch without mps";
  EXPECT_EQ(KindOf({kImpl}), "stock") << "2.11";
  EXPECT_EQ(KindOf({kImpl, kPool, kSynchronizeAll}), "upstream_pool") << "2.14";
  EXPECT_EQ(KindOf({kImpl, kPool, kSynchronizeAll, kById}), "upstream_guard") << "2.15";
  EXPECT_EQ(KindOf({kPatchedPool}), "patched") << "2.9.1 with the stream pool";
}

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
    EXPECT_THAT(why, HasSubstr(RuntimeKindName(kind)));
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

std::string Objection(const std::string& device, uint32_t lanes, const char* set,
                      const char* value) {
  return ProfilerObjection(device, lanes, [&](const char* name) -> const char* {
    return std::string(name) == set ? value : nullptr;
  });
}

TEST(ProfilerObjection, IsRaisedWithSeveralLanesOnMpsOnly) {
  constexpr char kVariable[] = "PYTORCH_MPS_TRACE_SIGNPOSTS";
  EXPECT_THAT(Objection("mps", 2, kVariable, "1"), HasSubstr(kVariable));
  EXPECT_THAT(Objection("mps", 2, "PYTORCH_MPS_LOG_PROFILE_INFO", "3"), HasSubstr("LOG_PROFILE"));
  EXPECT_THAT(Objection("mps", 1, kVariable, "1"), IsEmpty());
  EXPECT_THAT(Objection("cuda:0", 2, kVariable, "1"), IsEmpty());
  EXPECT_THAT(Objection("mps", 2, kVariable, "0"), IsEmpty());
  EXPECT_THAT(Objection("mps", 2, "HOME", "1"), IsEmpty());
}

TEST(DivideWatermarks, GivesEachProcessItsShare) {
  EXPECT_EQ(DivideWatermarks(50).high, "0.475");
  EXPECT_EQ(DivideWatermarks(50).low, "0.375");
  EXPECT_EQ(DivideWatermarks(100).high, "0.95") << "never all of it";
  EXPECT_EQ(DivideWatermarks(1000).high, "0.95");
}

}  // namespace
}  // namespace mpsd
