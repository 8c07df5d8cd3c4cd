#include "load_tests/bars/bar_process.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"

namespace mpsd::load {
namespace {

int64_t In(int64_t ns) { return Clock::Real()->NowNs() + ns; }

// A process that does what a line of the shell says, with descriptor 3 as its stdout.
std::unique_ptr<BarProcess> Shell(const std::string& line) {
  auto process = BarProcess::Start("/bin/sh", {"-c", absl::StrCat("exec >&3; ", line)});
  EXPECT_TRUE(process.ok()) << process.status();
  return *std::move(process);
}

std::string Say(const std::string& json) { return absl::StrCat("echo '", json, "'; "); }

BarOutcome Outcome() {
  BarOutcome outcome;
  outcome.host = {"cpu", "torch 1", "stock", "/lib/libtorch.so", "none"};
  outcome.operators["linear"] = {1, 2, 3, 4, 5};
  outcome.seconds = 6;
  outcome.rate = 7;
  outcome.first_fault = "lane 8";
  return outcome;
}

TEST(BarProcess, TellsItsOutcomeOnceItMayBegin) {
  const std::string told = nlohmann::ordered_json{{"outcome", ToJson(Outcome())}}.dump();
  const auto process = Shell(absl::StrCat(Say(R"({"stage": "cold"})"), Say(R"({"stage": "ready"})"),
                                          "head -c 1 <&3 | wc -c >/dev/null; ", Say(told)));
  ASSERT_TRUE(process->AwaitReady(In(60 * kNsPerSecond)).ok());
  process->Begin();
  const auto outcome = process->AwaitOutcome(In(60 * kNsPerSecond));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(ToJson(*outcome), ToJson(Outcome()));
}

TEST(BarProcess, ACrashSaysItsSignalAndItsStage) {
  const auto process = Shell(Say(R"({"stage": "cold"})") + "kill -9 $$");
  EXPECT_EQ(process->AwaitReady(In(60 * kNsPerSecond)).message(), "signal 9 in the stage 'cold'");
}

TEST(BarProcess, AnEndWithoutAnOutcomeSaysTheExitStatus) {
  const auto process = Shell(Say(R"({"stage": "ready"})") + Say(R"({"stage": "warm"})") + "exit 5");
  ASSERT_TRUE(process->AwaitReady(In(60 * kNsPerSecond)).ok());
  EXPECT_EQ(process->AwaitOutcome(In(60 * kNsPerSecond)).status().message(),
            "exit 5 in the stage 'warm'");
}

TEST(BarProcess, AHangEndsWithItsTime) {
  const auto process = Shell(Say(R"({"stage": "alone"})") + "exec sleep 3600");
  const absl::Status status = process->AwaitReady(In(500 * kNsPerMs));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
}

TEST(BarProcess, AnErrorIsPassedOn) {
  const auto process = Shell(Say(R"({"error": "there is no device"})"));
  EXPECT_EQ(process->AwaitReady(In(60 * kNsPerSecond)).message(), "there is no device");
}

TEST(BarProcess, AProgramThatIsNotThereIsAnError) {
  const auto process = BarProcess::Start("/nowhere/program", {});
  EXPECT_FALSE(process.ok() && (*process)->AwaitReady(In(60 * kNsPerSecond)).ok());
}

}  // namespace
}  // namespace mpsd::load
