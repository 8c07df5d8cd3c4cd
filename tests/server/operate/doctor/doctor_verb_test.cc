#include "server/operate/doctor/doctor_verb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/files/whole_file.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

// A config whose addresses nothing else has, and a worker of two lines of shell.
class DoctorVerb : public testing::Test {
 protected:
  DoctorVerb() {
    std::filesystem::create_directory(folder_);
    options_.config = Written("mpsd.json", absl::StrCat(R"({"state_dir": ")", folder_, R"(/state",
      "listen": {"grpc": ["127.0.0.1:0"], "http": "127.0.0.1:0"},
      "models": [{"name": "m", "format": "synthetic",
                  "inputs": [{"name": "x", "datatype": "FP32", "shape": [1]}],
                  "outputs": [{"name": "y", "datatype": "FP32", "shape": [1]}]}]})"));
    options_.worker = Written("worker", R"(#!/bin/sh
      echo '{"devices": ["cpu"], "sandbox": "strict"}')");
    chmod(options_.worker.c_str(), 0700);
  }
  ~DoctorVerb() override { std::filesystem::remove_all(folder_); }

  std::string Written(const std::string& name, const std::string& content) {
    std::ofstream(absl::StrCat(folder_, "/", name)) << content << "\n";
    return absl::StrCat(folder_, "/", name);
  }

  const std::string folder_ = absl::StrCat(testing::TempDir(), "/doctor_verb_test.", getpid());
  DoctorOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DoctorVerb, AHostThatServesIsSuccess) {
  EXPECT_EQ(RunDoctor(options_, out_, err_), 0) << out_.str();
  EXPECT_THAT(out_.str(), testing::StartsWith("OK    host: "));
  EXPECT_THAT(out_.str(), HasSubstr("\nOK    config: " + options_.config));
  EXPECT_THAT(out_.str(), HasSubstr("\nnot tried: "));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(DoctorVerb, AFailureIsInTheExitCode) {
  options_.worker = folder_ + "/missing";
  EXPECT_EQ(RunDoctor(options_, out_, err_), kExitUnfit);
  EXPECT_THAT(out_.str(), HasSubstr("\nFAIL  worker: "));
}

TEST_F(DoctorVerb, AConfigWithAMistakeIsAFindingAmongOthers) {
  options_.config = Written("wrong.json", R"({"modles": []})");
  EXPECT_EQ(RunDoctor(options_, out_, err_), kExitUnfit);
  EXPECT_THAT(out_.str(), HasSubstr("\nFAIL  config: "));
  EXPECT_THAT(out_.str(), HasSubstr("\nOK    worker: "));
}

TEST_F(DoctorVerb, TheReportHasTheFindings) {
  options_.report = folder_ + "/report.txt";
  EXPECT_EQ(RunDoctor(options_, out_, err_), 0);
  const auto report = ReadWholeFile(options_.report, 1 << 20);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(*report, HasSubstr("\nOK    host: "));
  EXPECT_THAT(*report, HasSubstr(R"(mpsd-worker --devices: {\"devices\": [\"cpu\"])"));
  EXPECT_THAT(out_.str(), HasSubstr("report.txt is written\n"));
}

TEST_F(DoctorVerb, AReportThatCannotBeWrittenIsAnError) {
  options_.report = folder_ + "/missing/report.txt";
  EXPECT_EQ(RunDoctor(options_, out_, err_), kExitNoReport);
  EXPECT_THAT(err_.str(), HasSubstr("missing/report.txt"));
  EXPECT_THAT(out_.str(), HasSubstr("OK    host: "));
}

TEST_F(DoctorVerb, TheChecklistLooksAtNothing) {
  options_.mac_checklist = true;
  options_.worker = folder_ + "/missing";
  EXPECT_EQ(RunDoctor(options_, out_, err_), 0);
  EXPECT_THAT(out_.str(), testing::StartsWith("1. "));
  EXPECT_THAT(out_.str(), Not(HasSubstr("FAIL  ")));
}

}  // namespace
}  // namespace mpsd
