#include "server/telemetry/http/http_answer.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "nlohmann/json.hpp"
#include "server/telemetry/open_metrics.h"

namespace mpsd {
namespace {

class FakeHealth final : public HealthSource {
 public:
  bool Live() override { return live; }
  Readiness Ready() override {
    if (ready) return {true, "", {}};
    return {false, "models are starting", {"bert", "resnet"}};
  }

  bool live = true;
  bool ready = true;
};

class HttpAnswerTest : public testing::Test {
 protected:
  HttpAnswer Ask(const std::string& path) { return AnswerTo(path, accept_, page_, &health_); }

  std::string accept_ = "*/*";
  ServerMetrics metrics_;
  MetricsPage page_{&metrics_, {{"version", "test"}}};
  FakeHealth health_;
};

TEST_F(HttpAnswerTest, ServesTheMetricsPage) {
  const HttpAnswer answer = Ask("/metrics");
  EXPECT_EQ(answer.code, 200);
  EXPECT_STREQ(answer.content_type, MetricsPage::kContentType);
  EXPECT_TRUE(absl::StrContains(answer.body, "version=\"test\"")) << answer.body;
}

TEST_F(HttpAnswerTest, TheFormOfMetricsIsTheOneThatIsAccepted) {
  accept_ = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5";
  const HttpAnswer answer = Ask("/metrics");
  EXPECT_STREQ(answer.content_type, kOpenMetricsType);
  EXPECT_TRUE(absl::EndsWith(answer.body, "\n# EOF\n"));
}

TEST_F(HttpAnswerTest, AnswersProbesOnBothTheirNames) {
  for (const char* path : {"/livez", "/readyz", "/health"}) {
    EXPECT_EQ(Ask(path).code, 200) << path;
    EXPECT_EQ(Ask(path).body, "ok");
  }
  EXPECT_EQ(Ask("/v2/health/live").body, R"({"live":true})");
  EXPECT_EQ(Ask("/v2/health/ready").body, R"({"ready":true})");
  EXPECT_STREQ(Ask("/v2/health/ready").content_type, "application/json");
}

TEST_F(HttpAnswerTest, NotReadyIs503AndNamesTheModels) {
  health_.ready = false;
  for (const char* path : {"/readyz", "/v2/health/ready"}) {
    const HttpAnswer answer = Ask(path);
    EXPECT_EQ(answer.code, 503) << path;
    const auto json = nlohmann::json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(json.is_object()) << answer.body;
    EXPECT_EQ(json["ready"], false);
    EXPECT_EQ(json["reason"], "models are starting");
    EXPECT_EQ(json["unready_models"], nlohmann::json({"bert", "resnet"}));
  }
  EXPECT_EQ(Ask("/livez").code, 200);
}

TEST_F(HttpAnswerTest, NotLiveIs503) {
  health_.live = false;
  EXPECT_EQ(Ask("/livez").code, 503);
  EXPECT_EQ(Ask("/v2/health/live").code, 503);
  EXPECT_EQ(Ask("/v2/health/live").body, R"({"live":false})");
}

TEST_F(HttpAnswerTest, OtherPathsAre404) { EXPECT_EQ(Ask("/metric").code, 404); }

}  // namespace
}  // namespace mpsd
