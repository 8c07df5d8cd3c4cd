#include "proto/base/child_output.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "proto/base/clock.h"

namespace mpsd {
namespace {

TEST(ChildOutput, KeepsWhatTheProgramWroteAndHowItEnded) {
  const auto output =
      RunChild("/bin/sh", {"-c", "echo one; echo two >&2; exit 7"}, 30 * kNsPerSecond);
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->exit_code, 7);
  EXPECT_EQ(output->text, "one\ntwo\n");
}

TEST(ChildOutput, TellsThatItWasKilled) {
  const auto output = RunChild("/bin/sh", {"-c", "kill -9 $$"}, 30 * kNsPerSecond).value();
  EXPECT_EQ(output.exit_code, 128 + 9);
}

TEST(ChildOutput, HasOurEnvironmentButForWhatIsSaid) {
  setenv("MPSD_KEPT", "ours", 1);
  setenv("MPSD_CHANGED", "ours", 1);
  const auto output = RunChild("/bin/sh", {"-c", "echo $MPSD_KEPT $MPSD_CHANGED"},
                               30 * kNsPerSecond, {{"MPSD_CHANGED", "another"}})
                          .value();
  EXPECT_EQ(output.text, "ours another\n");
}

TEST(ChildOutput, EndsWhoDoesNotEnd) {
  const auto output = RunChild("/bin/sh", {"-c", "exec sleep 600"}, 50 * kNsPerMs);
  EXPECT_EQ(output.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(ChildOutput, IsTakenAsItComes) {
  std::string text;
  const auto ended =
      RunChild("/bin/sh", {"-c", "echo one; exec sleep 600"}, [&text](std::string_view piece) {
        text += piece;
        return text != "one\n";
      });
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kAborted);
}

TEST(ChildOutput, OfAProgramThatIsNotThereIsAnError) {
  const auto output = RunChild("/nowhere/program", {}, kNsPerSecond);
  EXPECT_TRUE(!output.ok() || output->exit_code != 0);
}

TEST(LastLine, IsTheLastThatIsNotEmpty) {
  EXPECT_EQ(LastLine("a\nb\n\n"), "b");
  EXPECT_EQ(LastLine("only"), "only");
  EXPECT_EQ(LastLine("\n"), "");
  EXPECT_EQ(LastLine(""), "");
}

}  // namespace
}  // namespace mpsd
