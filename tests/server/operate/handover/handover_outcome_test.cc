#include "server/operate/handover/handover_outcome.h"

#include <gtest/gtest.h>

#include "tests/fakes/work_folder.h"

namespace mpsd {
namespace {

class HandoverOutcomeTest : public testing::Test {
 protected:
  const WorkFolder work_;
  const std::string folder_ = work_.path();
};

TEST_F(HandoverOutcomeTest, IsReadAsItWasWritten) {
  for (const absl::Status& outcome :
       {absl::OkStatus(), absl::InvalidArgumentError("one\ntwo"), absl::InternalError("three")}) {
    ASSERT_TRUE(WriteHandoverOutcome(folder_, outcome).ok());
    EXPECT_EQ(ReadHandoverOutcome(folder_), outcome);
  }
}

TEST_F(HandoverOutcomeTest, IsForgotten) {
  EXPECT_FALSE(ReadHandoverOutcome(folder_).has_value());
  ASSERT_TRUE(WriteHandoverOutcome(folder_, absl::OkStatus()).ok());
  ForgetHandoverOutcome(folder_);
  EXPECT_FALSE(ReadHandoverOutcome(folder_).has_value());
}

TEST_F(HandoverOutcomeTest, AFileOfSomethingElseIsNone) {
  work_.Write("mpsd.handover", "hello");
  EXPECT_FALSE(ReadHandoverOutcome(folder_).has_value());
}

TEST_F(HandoverOutcomeTest, ALongTextIsCut) {
  const absl::Status outcome = absl::InternalError(std::string(1 << 20, 'x'));
  ASSERT_TRUE(WriteHandoverOutcome(folder_, outcome).ok());
  const std::optional<absl::Status> read = ReadHandoverOutcome(folder_);
  ASSERT_TRUE(read.has_value());
  EXPECT_GT(read->message().size(), 1000);
}

}  // namespace
}  // namespace mpsd
