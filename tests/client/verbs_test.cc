#include "client/cli/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/exit_code.h"

namespace mpsd::cli {
namespace {

using testing::HasSubstr;

class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    AddPsVerb(app_, &exit_code_);
    AddListVerb(app_, &exit_code_);
    AddInferVerb(app_, &exit_code_);
    AddHelpVerb(app_);
  }

  int Run(std::vector<const char*> words) {
    words.insert(words.begin(), "mpsd");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = ParseAndRun(app_, static_cast<int>(words.size()), words.data(), &exit_code_);
    out_ = testing::internal::GetCapturedStdout();
    err_ = testing::internal::GetCapturedStderr();
    return code;
  }

  CLI::App app_{"mpsd serves"};
  int exit_code_ = kExitOk;
  std::string out_;
  std::string err_;
};

TEST_F(CommandLineTest, AVerbThatIsWrittenWronglyIsAnsweredWithTheNearest) {
  EXPECT_EQ(Run({"lsit"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: there is no verb 'lsit'; did you mean 'list'?\n");
  EXPECT_EQ(Run({"frobnicate"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: there is no verb 'frobnicate'; there are ps, list, infer, help\n");
}

TEST_F(CommandLineTest, NoVerbAtAllIsAnsweredWithTheHelp) {
  EXPECT_EQ(Run({}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("show a running daemon's models and workers"));
  EXPECT_THAT(err_, HasSubstr("Usage: mpsd [OPTIONS]"));
  EXPECT_EQ(out_, "");
}

TEST_F(CommandLineTest, HelpExplainsAVerb) {
  EXPECT_EQ(Run({"help", "infer"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("NAME=@FILE.json or NAME=random"));
  EXPECT_EQ(Run({"help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("show a running daemon's models and workers"));
  EXPECT_EQ(Run({"help", "inferr"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: there is no verb 'inferr'; did you mean 'infer'?\n");
}

TEST_F(CommandLineTest, ARateThatNoClientCanSendIsRefused) {
  AddBenchVerb(app_, &exit_code_);
  for (const char* rate : {"1e30", "1e12", "1e-9", "0", "-1"}) {
    EXPECT_EQ(Run({"bench", "m", "--rate", rate}), kExitUsage) << rate;
    EXPECT_THAT(err_, HasSubstr("--rate")) << rate;
  }
}

TEST_F(CommandLineTest, AFlagThatIsWrittenWronglyIsAnsweredWithTheNearest) {
  EXPECT_EQ(Run({"ps", "--timout", "1s"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: mpsd ps has no flag '--timout'; did you mean '--timeout'?\n");
  EXPECT_EQ(Run({"ps", "--adress=h:1"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: mpsd ps has no flag '--adress'; did you mean '--address'?\n");
  EXPECT_EQ(Run({"ps", "--frobnicate"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("mpsd: mpsd ps has no flag '--frobnicate'; it has --"));
  EXPECT_EQ(Run({"ps", "m", "n"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: mpsd ps takes no 'n' there\n");
}

TEST_F(CommandLineTest, EveryMistakeIsSaidByName) {
  EXPECT_EQ(Run({"infer"}), kExitUsage);
  EXPECT_THAT(err_, testing::StartsWith("mpsd: model is required"));
  EXPECT_EQ(Run({"infer", "m", "--seed", "x"}), kExitUsage);
  EXPECT_THAT(err_, testing::StartsWith("mpsd: "));
}

TEST_F(CommandLineTest, ANumberOutOfBoundsIsAnsweredWithTheBounds) {
  AddBenchVerb(app_, &exit_code_);
  EXPECT_EQ(Run({"infer", "m", "--batch", "0"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: --batch: must be a whole number from 1 on, not '0'\n");
  EXPECT_EQ(Run({"infer", "m", "--seed", "x"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: --seed: must be a whole number from 0 on, not 'x'\n");
  EXPECT_EQ(Run({"bench", "m", "--clients", "1,65537"}), kExitUsage);
  EXPECT_EQ(err_, "mpsd: --clients: must be a whole number from 1 to 65536, not '65537'\n");
  for (const char* seconds : {"0", "nan", "3601", "x"}) {
    EXPECT_EQ(Run({"bench", "m", "--seconds", seconds}), kExitUsage) << seconds;
    EXPECT_EQ(err_, absl::StrCat("mpsd: --seconds: must be a number from 0.1 to 3600, not '",
                                 seconds, "'\n"));
  }
}

TEST_F(CommandLineTest, OutputThatIsNotTakenIsAnError) {
  EXPECT_EQ(EndOfOutput(kExitOk), kExitOk);
  std::cout.setstate(std::ios::badbit);
  testing::internal::CaptureStderr();
  EXPECT_EQ(EndOfOutput(kExitOk), kExitCannotWrite);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "mpsd: the output cannot be written\n");
  EXPECT_EQ(EndOfOutput(kExitUsage), kExitUsage);
  std::cout.clear();
}

TEST_F(CommandLineTest, GrpcKeepsItsOwnLinesToItself) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_STREQ(std::getenv("GRPC_VERBOSITY"), "NONE");
}

TEST_F(CommandLineTest, AServerHasOneFlagInAllVerbs) {
  AddTextVerbs(app_, &exit_code_);
  for (const char* flag : {"--server", "--address"}) {
    for (const char* verb : {"ps", "list"}) {
      EXPECT_EQ(Run({verb, flag, "unix:/none", "--timeout", "10ms"}), kExitNotReachable) << err_;
    }
    EXPECT_EQ(Run({"infer", "m", "--input", "x=1", flag, "http://a:b"}), kExitUsage);
    EXPECT_THAT(err_, HasSubstr("http://a:b"));
    EXPECT_EQ(Run({"embed", "text", flag, "a:b"}), kExitUsage);
    EXPECT_THAT(err_, HasSubstr("http://a:b: http://HOST:PORT"));
  }
}

TEST_F(CommandLineTest, AnOptionBeforeTheVerbIsNoVerb) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_EQ(Run({"--bogus"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--bogus"));
}

}  // namespace
}  // namespace mpsd::cli
