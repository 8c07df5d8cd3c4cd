#include "server/supervise/process/child_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace mpsd {
namespace {

using testing::Contains;
using testing::Not;

TEST(ChildEnvironment, HasWhatBeginsWithNoneOfThePrefixes) {
  setenv("MPSD_TEST_ONE", "1", 1);
  setenv("MPSD_TEST_ONES", "2", 1);
  setenv("MPSD_OTHER", "3", 1);
  EXPECT_THAT(EnvironmentWithout({"MPSD_TEST_ONE="}), Contains("MPSD_TEST_ONES=2"));
  EXPECT_THAT(EnvironmentWithout({"MPSD_TEST_ONE="}), Not(Contains("MPSD_TEST_ONE=1")));
  const std::vector<std::string> without = EnvironmentWithout({"MPSD_OTHER=", "MPSD_TEST_"});
  for (const char* gone : {"MPSD_TEST_ONE=1", "MPSD_TEST_ONES=2", "MPSD_OTHER=3"}) {
    EXPECT_THAT(without, Not(Contains(gone)));
  }
  EXPECT_THAT(EnvironmentWithout({}), Contains("MPSD_OTHER=3"));
}

}  // namespace
}  // namespace mpsd
