#include "server/models/reload/job_order.h"

#include <gtest/gtest.h>

namespace mpsd {
namespace {

using Models = std::vector<JobModel>;

TEST(JobOrder, JobsOfDifferentModelsRunSideBySide) {
  EXPECT_EQ(NextJob(Models{}, Models{}), std::nullopt);
  EXPECT_EQ(NextJob(Models{"a", "b"}, Models{}), 0U);
  EXPECT_EQ(NextJob(Models{"b"}, Models{"a"}), 0U);
}

TEST(JobOrder, JobsOfOneModelKeepTheirOrder) {
  EXPECT_EQ(NextJob(Models{"a"}, Models{"a"}), std::nullopt);
  EXPECT_EQ(NextJob(Models{"a", "a", "b"}, Models{"a"}), 2U) << "others overtake them";
}

TEST(JobOrder, AReloadRunsAloneAndInItsTurn) {
  EXPECT_EQ(NextJob(Models{""}, Models{}), 0U);
  EXPECT_EQ(NextJob(Models{"", "a"}, Models{}), 0U);
  EXPECT_EQ(NextJob(Models{"", "b"}, Models{"a"}), std::nullopt) << "nobody overtakes it";
  EXPECT_EQ(NextJob(Models{"b", ""}, Models{"a"}), 0U);
  EXPECT_EQ(NextJob(Models{"a"}, Models{""}), std::nullopt);
}

}  // namespace
}  // namespace mpsd
