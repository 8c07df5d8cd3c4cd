#include "server/operate/doctor/doctor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace mpsd {
namespace {

using testing::HasSubstr;

TEST(DoctorReport, ARemedyStandsBelowItsFinding) {
  const std::vector<Finding> findings = {{Verdict::kOk, "host", "Linux", ""},
                                         {Verdict::kFail, "worker", "none", "build it"}};
  EXPECT_EQ(FindingsText(findings, {"sleep"}),
            "OK    host: Linux\n"
            "FAIL  worker: none\n"
            "      do: build it\n"
            "not tried: sleep\n");
}

TEST(DoctorReport, VerdictsHaveColoursWhereATerminalTakesThem) {
  const std::vector<Finding> findings = {{Verdict::kOk, "host", "Linux", ""},
                                         {Verdict::kWarn, "sandbox", "none", ""}};
  EXPECT_EQ(FindingsText(findings, {}, true),
            "\033[32mOK  \033[0m  host: Linux\n\033[33mWARN\033[0m  sandbox: none\n");
}

TEST(DoctorReport, ProgramsGetAnObject) {
  const std::vector<Finding> findings = {{Verdict::kOk, "host", "Linux\xff", ""},
                                         {Verdict::kFail, "worker", "none", "build it"}};
  const auto report = nlohmann::json::parse(FindingsJson(findings, {"sleep"}));
  EXPECT_EQ(report["version"], MPSD_VERSION);
  EXPECT_EQ(report["verdict"], "FAIL");
  EXPECT_EQ(report["not_tried"], nlohmann::json({"sleep"}));
  ASSERT_EQ(report["findings"].size(), 2U);
  EXPECT_EQ(
      report["findings"][1],
      nlohmann::json(
          {{"topic", "worker"}, {"verdict", "FAIL"}, {"seen", "none"}, {"remedy", "build it"}}));
}

TEST(DoctorReport, HasTheWorkersAnswersOnALineEach) {
  Examination seen;
  seen.worker.devices_line = R"({"devices": ["cpu"]})";
  seen.worker.sandbox_line = "a\nb";
  seen.environment = {"PYTORCH_ENABLE_MPS_FALLBACK=1"};
  const std::string text = ReportText("mpsd 1.2.3~dev\ncommit abc", seen, "OK    host: Linux\n");
  EXPECT_THAT(text, testing::StartsWith("mpsd 1.2.3~dev\ncommit abc\n\nOK    host: Linux\n"));
  EXPECT_THAT(text, HasSubstr("\nmpsd-worker --sandbox: a\\nb\n"));
  EXPECT_THAT(text, HasSubstr("\nenvironment: PYTORCH_ENABLE_MPS_FALLBACK=1\n"));
}

}  // namespace
}  // namespace mpsd
