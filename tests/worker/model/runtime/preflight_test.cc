#include "worker/model/runtime/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

RuntimeFacts Facts() { return {"2.11.0", "2.11.0", "/opt/torch/lib/libtorch_cpu.so", "stock"}; }

std::string Refusal(const RuntimeFacts& facts, const TorchOptions& expected = {}) {
  return std::string(CheckRuntime(facts, expected).message());
}

TEST(Preflight, TakesTheLibtorchItWasCompiledAgainst) {
  EXPECT_EQ(Refusal(Facts()), "");
  RuntimeFacts facts = Facts();
  facts.loaded_version = "2.11.0+cu130";
  EXPECT_EQ(Refusal(facts), "") << "the same release, built for another device";
  facts.loaded_version = "2.11.1";
  EXPECT_EQ(Refusal(facts), "") << "a patch release";
  facts.loaded_version = "";
  EXPECT_EQ(Refusal(facts), "") << "one that does not tell";
}

TEST(Preflight, RefusesAnotherVersion) {
  RuntimeFacts facts = Facts();
  facts.loaded_version = "2.1.0";
  EXPECT_THAT(Refusal(facts), HasSubstr("is version 2.1.0, not 2.11.0"));
  facts.loaded_version = "2.12.0";
  EXPECT_EQ(CheckRuntime(facts, {}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Refusal(facts),
            "the libtorch in use, /opt/torch/lib/libtorch_cpu.so, is version 2.12.0, not 2.11.0, "
            "which mpsd-worker was compiled against");
}

TEST(Preflight, HoldsTheLibtorchToWhatTheModelAsksFor) {
  TorchOptions expected;
  expected.libtorch_version = "2.9.1";
  EXPECT_THAT(Refusal(Facts(), expected), HasSubstr("is version 2.11.0, not 2.9.1"));
  expected.libtorch_version = "2.11.0";
  expected.libtorch_path = "/opt/patched";
  EXPECT_THAT(Refusal(Facts(), expected), HasSubstr("not of /opt/patched"));
  expected.libtorch_path = "/opt/torch";
  expected.runtime_kind = "patched";
  EXPECT_THAT(Refusal(Facts(), expected), HasSubstr("of the kind stock, not patched"));
  expected.runtime_kind = "stock";
  EXPECT_EQ(Refusal(Facts(), expected), "");
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

}  // namespace
}  // namespace mpsd
