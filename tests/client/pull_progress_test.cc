#include "client/cli/pull_progress.h"

#include <gtest/gtest.h>

#include <sstream>

namespace mpsd::cli {
namespace {

using Form = PullProgressLine::Form;

const absl::Time kBegin = absl::UnixEpoch() + absl::Hours(1);

hub::PullProgress Half() {
  return {"model.safetensors", 5'000'000, 10'000'000, 6'000'000, 12'000'000};
}

TEST(PullProgressLine, ChangesOneLineOnATerminal) {
  std::ostringstream out;
  PullProgressLine line("o/n", Form::kTerminal, out);
  line.Show({"config.json", 0, 100, 0, 12'000'000}, kBegin);
  out.str("");
  line.Show(Half(), kBegin + absl::Milliseconds(100));
  EXPECT_EQ(out.str(), "") << "not more often than an eye can follow";
  line.Show(Half(), kBegin + absl::Seconds(2));
  EXPECT_EQ(out.str(), "\r\x1b[Ko/n: 6 of 12 MB, 3.0 MB/s, 2 s left  model.safetensors");
  out.str("");
  line.End();
  EXPECT_EQ(out.str(), "\r\x1b[K");
  line.Say("waits");
  EXPECT_EQ(out.str(), "\r\x1b[Kmpsd: o/n: waits\n");
}

TEST(PullProgressLine, IsALineInTenSecondsElsewhere) {
  std::ostringstream out;
  PullProgressLine line("o/n", Form::kLines, out);
  line.Show({"a", 0, 1, 0, 12'000'000}, kBegin);
  line.Show(Half(), kBegin + absl::Seconds(9));
  EXPECT_EQ(out.str(), "");
  line.Show(Half(), kBegin + absl::Seconds(10));
  EXPECT_EQ(out.str(), "mpsd: o/n: 6 of 12 MB, 0.6 MB/s, 10 s left  model.safetensors\n");
}

TEST(PullProgressLine, IsAnEventForPrograms) {
  std::ostringstream out;
  PullProgressLine line("o/n", Form::kJson, out);
  line.Show(Half(), kBegin);
  line.Say("waits");
  EXPECT_EQ(out.str(),
            "{\"bytes\":12000000,\"done\":6000000,\"event\":\"progress\",\"file\":"
            "\"model.safetensors\",\"file_bytes\":10000000,\"file_done\":5000000}\n"
            "{\"event\":\"waits\",\"text\":\"waits\"}\n");
}

}  // namespace
}  // namespace mpsd::cli
