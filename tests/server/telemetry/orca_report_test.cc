#include "server/telemetry/orca_report.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/orca_load_report.pb.h"

namespace mpsd {
namespace {

OrcaReport Report() {
  OrcaReport report;
  report.application_utilization = 0.5;
  report.cpu_utilization = 0.25;
  report.mem_utilization = 0.125;
  report.rps_fractional = 100;
  report.eps = 2;
  report.named_metrics = {{"load.m", 0.5}, {"queued.m", 0}};
  return report;
}

TEST(OrcaReport, TheTextIsAListOfPairs) {
  EXPECT_EQ(FormsOf(Report(), true).text,
            "application_utilization=0.5,cpu_utilization=0.25,mem_utilization=0.125,"
            "rps_fractional=100,eps=2,named_metrics.load.m=0.5,named_metrics.queued.m=0");
}

TEST(OrcaReport, TheJsonIsThatOfTheMessage) {
  EXPECT_EQ(FormsOf(Report(), true).json,
            R"({"application_utilization":0.5,"cpu_utilization":0.25,"mem_utilization":0.125,)"
            R"("rps_fractional":100,"eps":2,"named_metrics":{"load.m":0.5,"queued.m":0}})");
}

TEST(OrcaReport, TheBytesAreTheMessage) {
  xds::data::orca::v3::OrcaLoadReport message;
  OrcaReport report = Report();
  report.named_metrics.emplace_back("load." + std::string(200, 'x'), 7);
  ASSERT_TRUE(message.ParseFromString(FormsOf(report, true).bytes));
  EXPECT_EQ(message.application_utilization(), 0.5);
  EXPECT_EQ(message.cpu_utilization(), 0.25);
  EXPECT_EQ(message.mem_utilization(), 0.125);
  EXPECT_EQ(message.rps_fractional(), 100);
  EXPECT_EQ(message.eps(), 2);
  ASSERT_EQ(message.named_metrics().size(), 3U);
  EXPECT_EQ(message.named_metrics().at("load.m"), 0.5);
  EXPECT_EQ(message.named_metrics().at(report.named_metrics[2].first), 7);
}

TEST(OrcaReport, WithoutNamesNoModelIsNamed) {
  const OrcaForms forms = FormsOf(Report(), false);
  for (const std::string& form : {forms.text, forms.json, forms.bytes}) {
    EXPECT_EQ(form.find("load.m"), std::string::npos);
  }
  EXPECT_EQ(FormsOf(OrcaReport(), true).json, "{}");
}

}  // namespace
}  // namespace mpsd
