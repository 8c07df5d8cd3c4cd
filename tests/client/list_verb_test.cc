#include "client/cli/list_verb.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "client/cli/exit_code.h"
#include "tests/client/full_output.h"
#include "tests/fakes/fake_inference_server.h"
#include "tests/fakes/fake_web_server.h"

namespace mpsd::cli {
namespace {

class ListVerbTest : public testing::Test {
 protected:
  ListVerbTest() {
    auto* ready = server_.index.add_models();
    ready->set_name("bert");
    ready->set_version("2");
    ready->set_state("READY");
    auto* failed = server_.index.add_models();
    failed->set_name("resnet");
    failed->set_version("1");
    failed->set_state("UNAVAILABLE");
    failed->set_reason("its file\nis no model");
    server_.Start();
    options_.address = server_.address();
  }

  FakeInferenceServer server_;
  ServerOptions options_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(ListVerbTest, ShowsEachVersionWithItsStateAndReason) {
  EXPECT_EQ(RunList(options_, out_, err_), kExitOk) << err_.str();
  EXPECT_EQ(out_.str(),
            "MODEL   VERSION  STATE        REASON\n"
            "bert    2        READY        -\n"
            "resnet  1        UNAVAILABLE  its file is no model\n");
}

TEST_F(ListVerbTest, StatesHaveColoursWhereATerminalTakesThem) {
  options_.colours = true;
  EXPECT_EQ(RunList(options_, out_, err_), kExitOk) << err_.str();
  EXPECT_EQ(out_.str(),
            "MODEL   VERSION  STATE        REASON\n"
            "bert    2        \033[32mREADY\033[0m        -\n"
            "resnet  1        \033[31mUNAVAILABLE\033[0m  its file is no model\n");
}

TEST_F(ListVerbTest, WritesJsonForPrograms) {
  options_.json = true;
  EXPECT_EQ(RunList(options_, out_, err_), kExitOk) << err_.str();
  const auto report = nlohmann::json::parse(out_.str());
  ASSERT_EQ(report.size(), 2u);
  EXPECT_EQ(report[1]["reason"], "its file\nis no model");
}

TEST_F(ListVerbTest, AsksAServerOfHttpToo) {
  FakeWebServer web;
  web.handler = [](const FakeWebServer::Request& request) {
    EXPECT_EQ(request.line, "POST /v2/repository/index");
    return FakeWebServer::Reply{200, R"([{"name":"bert","version":"2","state":"READY"}])"};
  };
  web.Start();
  options_.address = web.url();
  EXPECT_EQ(RunList(options_, out_, err_), kExitOk) << err_.str();
  EXPECT_EQ(out_.str(),
            "MODEL  VERSION  STATE  REASON\n"
            "bert   2        READY  -\n");
}

TEST_F(ListVerbTest, AReportThatCannotBeWrittenIsAnError) {
  FullOutput full;
  EXPECT_EQ(RunList(options_, full, err_), kExitCannotWrite);
  EXPECT_EQ(err_.str(), "mpsd: the output cannot be written\n");
}

TEST_F(ListVerbTest, SaysThatNobodyListens) {
  options_.address += ".none";
  EXPECT_EQ(RunList(options_, out_, err_), kExitNotReachable);
  EXPECT_TRUE(absl::StartsWith(err_.str(), "mpsd: no server is reachable at unix:")) << err_.str();
}

}  // namespace
}  // namespace mpsd::cli
