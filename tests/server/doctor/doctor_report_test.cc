#include "server/doctor/doctor_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(DoctorReport, HasTheWorkersAnswersOnALineEach) {
  Examination seen;
  seen.worker.devices_line = R"({"devices": ["cpu"]})";
  seen.worker.sandbox_line = "a\nb";
  seen.environment = {"PYTORCH_ENABLE_MPS_FALLBACK=1"};
  const std::string text = ReportText(seen, "OK    host: Linux\n");
  EXPECT_THAT(text, testing::StartsWith("mpsd "));
  EXPECT_THAT(text, HasSubstr("\nOK    host: Linux\n"));
  EXPECT_THAT(text, HasSubstr("\nmpsd-worker --sandbox: a\\nb\n"));
  EXPECT_THAT(text, HasSubstr("\nenvironment: PYTORCH_ENABLE_MPS_FALLBACK=1\n"));
}

}  // namespace
}  // namespace mpsd
