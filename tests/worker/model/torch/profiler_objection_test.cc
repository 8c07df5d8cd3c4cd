#include "worker/model/torch/profiler_objection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace mpsd {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
