#include "client/cli/verbs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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
  EXPECT_EQ(out_, "");
}

TEST_F(CommandLineTest, HelpExplainsAVerb) {
  EXPECT_EQ(Run({"help", "infer"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("NAME=@FILE.npy or NAME=random"));
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

TEST_F(CommandLineTest, AnOptionBeforeTheVerbIsNoVerb) {
  EXPECT_EQ(Run({"--help"}), kExitOk);
  EXPECT_EQ(Run({"--bogus"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--bogus"));
}

}  // namespace
}  // namespace mpsd::cli
