// A process of its own enters the sandbox and tries what a model must not do; see sandbox_probe.cc.
#include "worker/sandbox/sandbox.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "proto/base/platform.h"

namespace mpsd {
namespace {

struct Line {
  std::string name;
  int reach = -1;  // as in Reach
  bool takes_privileges = false;
  int outcome = -1;
  int outcome_of_early_thread = -1;
};

struct ProbeResult {
  int exit_code = -1;
  std::string text;
  std::vector<Line> lines;
};

std::string ReadAll(int fd) {
  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = read(fd, chunk, sizeof(chunk))) > 0;) {
    text.append(chunk, static_cast<size_t>(got));
  }
  return text;
}

ProbeResult RunProbe(const std::string& level) {
  ProbeResult result;
  char folder[] = "/tmp/mpsd-sandbox-XXXXXX";
  EXPECT_NE(mkdtemp(folder), nullptr);
  const std::string scratch = std::string(folder) + "/scratch";
  std::filesystem::create_directory(scratch);
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd output(ends[0]);
  platform::SpawnOptions spawn;
  spawn.path = SANDBOX_PROBE;
  spawn.arguments = {level};
  // The address sanitizer looks for leaks at exit with calls that the sandbox denies.
  spawn.environment = {"TMPDIR=" + scratch, "ASAN_OPTIONS=detect_leaks=0"};
  spawn.output_fd.Reset(ends[1]);
  spawn.control_fd.Reset(open("/dev/null", O_RDWR | O_CLOEXEC));
  const absl::StatusOr<pid_t> pid = platform::Spawn(std::move(spawn));
  EXPECT_TRUE(pid.ok()) << pid.status();
  if (!pid.ok()) return result;
  result.text = ReadAll(output.get());
  int status = 0;
  waitpid(*pid, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  std::istringstream stream(result.text);
  for (std::string text; std::getline(stream, text);) {
    std::istringstream words(text);
    Line line;
    if (words >> line.name >> line.reach >> line.takes_privileges >> line.outcome >>
        line.outcome_of_early_thread) {
      result.lines.push_back(line);
    }
  }
  std::filesystem::remove_all(folder);
  return result;
}

void ExpectDeniedBeyond(const ProbeResult& result, int reach) {
  ASSERT_EQ(result.exit_code, 0) << result.text;
  ASSERT_GT(result.lines.size(), 40U) << result.text;
  for (const Line& line : result.lines) {
    EXPECT_EQ(line.outcome != 0, line.reach > reach) << line.name << ": " << line.outcome;
    EXPECT_EQ(line.outcome_of_early_thread != 0, line.reach > reach)
        << line.name << ", on a thread that was there before: " << line.outcome_of_early_thread;
  }
}

TEST(Sandbox, BasicDeniesWhatAModelHasNoUseFor) { ExpectDeniedBeyond(RunProbe("basic"), 1); }

TEST(Sandbox, StrictDeniesSocketsToo) { ExpectDeniedBeyond(RunProbe("strict"), 0); }

// Without a sandbox each attempt succeeds; otherwise the tests above could not fail.
TEST(Sandbox, OffDeniesNothing) {
  const ProbeResult result = RunProbe("off");
  ASSERT_EQ(result.exit_code, 0) << result.text;
  ASSERT_GT(result.lines.size(), 40U) << result.text;
  for (const Line& line : result.lines) {
    if (line.takes_privileges) continue;
    EXPECT_EQ(line.outcome, 0) << line.name;
  }
}

TEST(Sandbox, ASyntheticModelOpensNoDevice) {
  LoadOrder order;
  order.device = "auto";
  order.format = ModelFormat::kSynthetic;
  EXPECT_EQ(Sandbox::OptionsOf(order).device, "cpu");
  order.format = ModelFormat::kTorchScript;
  EXPECT_EQ(Sandbox::OptionsOf(order).device, "auto");
}

}  // namespace
}  // namespace mpsd
