#include "server/door/http_door.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/door/method_task.h"
#include "tests/server/bodies/inflate/compressed.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

TEST_F(HttpDoorTest, AnInferenceIsAnswered) {
  HttpTask* const task = Bring("POST /v2/models/m/infer", "", kBody);
  ASSERT_NE(task, nullptr);
  EXPECT_FALSE(call_->reply.has_value());
  EXPECT_TRUE(call_->dropped);
  EXPECT_EQ(open_infer_calls_.count(), 1U);
  Answer({0.5F});
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_TRUE(absl::StrContains(body(), "\"data\":[0.5]")) << body();
  EXPECT_TRUE(absl::StrContains(body(), "\"id\":\"7\"")) << body();
  task->Over();
  EXPECT_EQ(open_infer_calls_.count(), 0U);
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(HttpDoorTest, ATaskIsUsedAgain) {
  HttpTask* const first = Bring("POST /v2/models/m/infer", "", kBody);
  Answer({1});
  first->Over();
  EXPECT_EQ(Bring("POST /v2/models/m/infer", "", kBody), first);
  Answer({1});
  first->Over();
}

TEST_F(HttpDoorTest, BinaryTensorsFollowTheJson) {
  const std::string json = absl::StrCat(
      R"({"id":"7","inputs":[{"name":"x","shape":[1],"datatype":"FP32",)",
      R"("parameters":{"binary_data_size":4}}],"parameters":{"binary_data_output":true}})");
  HttpTask* const task =
      Bring("POST /v2/models/m/infer",
            absl::StrCat("Inference-Header-Content-Length: ", json.size(), "\r\n"), json + "abcd");
  ASSERT_NE(task, nullptr);
  Answer({2});
  EXPECT_STREQ(call_->reply->content_type, "application/octet-stream");
  EXPECT_TRUE(absl::StrContains(
      call_->reply->headers,
      absl::StrCat("Inference-Header-Content-Length: ", body().size() - 4, "\r\n")));
  task->Over();
}

TEST_F(HttpDoorTest, TwoLengthsOfTheJsonAreRefused) {
  const std::string length =
      absl::StrCat("Inference-Header-Content-Length: ", absl::string_view(kBody).size(), "\r\n");
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", length + length, kBody), 400);
  EXPECT_TRUE(absl::StrContains(body(), "more than one Inference-Header-Content-Length")) << body();
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(HttpDoorTest, JsonHasABoundOfItsOwnAndBinaryTensorsHaveNot) {
  const std::string blanks(kJsonBytes - sizeof(kBody) + 1, ' ');
  HttpTask* task = Bring("POST /v2/models/m/infer", "", kBody + blanks);
  Answer({1});
  EXPECT_EQ(call_->reply->status, 200);
  task->Over();
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", "", kBody + blanks + " "), 413);
  EXPECT_TRUE(absl::StrContains(body(), "limits.http_json")) << body();
  EXPECT_EQ(CodeOf("POST /v2/models/m/generate", "", kBody + blanks + " "), 413);
  const std::string json = R"({"inputs":[{"name":"x","shape":[25000],"datatype":"FP32",)"
                           R"("parameters":{"binary_data_size":100000}}]})";
  task = Bring("POST /v2/models/m/infer",
               absl::StrCat("Inference-Header-Content-Length: ", json.size(), "\r\n"),
               json + std::string(100'000, 'x'));
  Answer({1});
  EXPECT_EQ(call_->reply->status, 200);
  task->Over();
}

TEST_F(HttpDoorTest, CompressedBodiesAreInflated) {
  inflaters_.Start("inflate", 1);
  EXPECT_EQ(CodeOfCompressed("gzip", Compressed(kBody, CompressedForm::kGzip)), 200);
  EXPECT_EQ(CodeOfCompressed("x-gzip", Compressed(kBody, CompressedForm::kGzip)), 200);
  EXPECT_EQ(CodeOfCompressed("Deflate", Compressed(kBody, CompressedForm::kDeflate)), 200);
  EXPECT_EQ(handler_.ids(), std::vector<std::string>(3, "7"));
  EXPECT_EQ(CodeOfCompressed("gzip", kBody), 400);
  EXPECT_TRUE(absl::StrContains(body(), "cannot be inflated as gzip")) << body();
  const std::string bomb = Compressed(std::string(8 << 20, ' '), CompressedForm::kGzip);
  EXPECT_EQ(CodeOfCompressed("gzip", bomb), 413);
}

TEST_F(HttpDoorTest, OtherCodingsAreRefusedBeforeTheBody) {
  models_.Publish(handler_.Model("m"));
  for (const char* coding : {"br", "gzip, gzip", "gzip\r\nContent-Encoding: gzip"}) {
    EXPECT_EQ(CodeOfCompressed(coding, "x"), 415) << coding;
  }
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", "Content-Encoding: identity\r\n", "{"), 400);
  EXPECT_EQ(CodeOf("POST /v2/repository/index", "Content-Encoding: gzip\r\n", "x"), 415);
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(HttpDoorTest, CompressedBodiesNeedLeave) {
  context_.inflaters = nullptr;
  door_ = std::make_unique<HttpDoor>(context_, &thread_);
  EXPECT_EQ(CodeOfCompressed("gzip", "x"), 415);
}

TEST_F(HttpDoorTest, AClientThatLeavesEndsTheInflation) {
  HttpTask* const task = Bring("POST /v2/models/m/infer", "Content-Encoding: gzip\r\n",
                               Compressed(kBody, CompressedForm::kGzip));
  task->ClientLeft();
  EXPECT_FALSE(call_->reply.has_value());
  inflaters_.Start("inflate", 1);
  call_->resumed.acquire();
  task->Resumed();
  EXPECT_EQ(call_->reply->status, 499);
  EXPECT_EQ(handler_.count(), 0U);
  task->Over();
}

TEST_F(HttpDoorTest, LargeAnswersCountAsUnreadUntilTheyAreRead) {
  const std::vector<float> large(20'000, 0.5F);
  HttpTask* const task = Bring("POST /v2/models/m/infer", "", kBody);
  Answer(std::vector<float>(6'000, 0.5F));
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_GT(unread_.taken_bytes(), 16U << 10);
  call_->reply.reset();
  EXPECT_EQ(unread_.taken_bytes(), 0U);
  task->Over();
  HttpTask* const other = Bring("POST /v2/models/m/infer", "", kBody);
  Answer(large);
  EXPECT_EQ(call_->reply->status, 429);
  EXPECT_EQ(call_->reply->headers, "Retry-After: 1\r\n");
  other->Over();
}

TEST_F(HttpDoorTest, AClientThatLeavesCancels) {
  HttpTask* const task = Bring("POST /v2/models/m/infer", "", kBody);
  task->ClientLeft();
  EXPECT_EQ(call_->reply->status, 499);
  task->Over();
}

TEST_F(HttpDoorTest, WhoAsksForTheLoadIsToldIt) {
  const auto model = std::make_shared<ModelMetrics>();
  model->model = "m";
  model->load_permille = 500;
  page_.AddModel(model);
  const std::string asks = "endpoint-load-metrics-format: ";
  EXPECT_EQ(CodeOf("GET /v2/health/live", asks + "TEXT\r\n"), 200);
  EXPECT_EQ(call_->added,
            "endpoint-load-metrics: TEXT application_utilization=0.5,named_metrics.load.m=0.5,"
            "named_metrics.saturation.m=0,named_metrics.queued.m=0\r\n");
  EXPECT_EQ(CodeOf("GET /v2/health/live", asks + "json\r\n"), 200);
  EXPECT_TRUE(absl::StartsWith(call_->added, "endpoint-load-metrics: JSON {\"app")) << call_->added;
  EXPECT_EQ(CodeOf("GET /v2/health/live", asks + "XML\r\n"), 200);
  EXPECT_EQ(call_->added, "");
  EXPECT_EQ(CodeOf("GET /v2/health/live"), 200);
  EXPECT_EQ(call_->added, "");
}

TEST_F(HttpDoorTest, WithRulesTheLoadNamesNoModel) {
  const auto model = std::make_shared<ModelMetrics>();
  model->model = "secret-model";
  model->load_permille = 500;
  page_.AddModel(model);
  SetRules();
  CodeOf("GET /v2/health/live", "endpoint-load-metrics-format: TEXT\r\n");
  EXPECT_EQ(call_->added, "endpoint-load-metrics: TEXT application_utilization=0.5\r\n");
}

TEST_F(HttpDoorTest, TheCallersTraceAndIdAreEchoed) {
  models_.Publish(handler_.Model("m"));
  const std::string trace = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", trace + "\r\nX-Request-Id: abc\r\n", "{"), 400);
  EXPECT_EQ(call_->reply->headers, trace + "\r\nX-Request-Id: abc\r\n");
}

TEST_F(HttpDoorTest, ARequestPastItsTimeIsRefused) {
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", "Request-Timeout: 0\r\n", kBody), 504);
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", "Request-Timeout: x\r\n", kBody), 400);
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(HttpDoorTest, ABodyThatDoesNotComeIsToldWhy) {
  const std::vector<std::pair<BodyEnd, int>> codes = {
      {BodyEnd::kTooLarge, 413},  {BodyEnd::kTooMany, 429},    {BodyEnd::kTooSlow, 408},
      {BodyEnd::kMalformed, 400}, {BodyEnd::kClientLeft, 499},
  };
  for (const char* line : {"POST /v2/models/m/infer", "POST /v2/repository/index"}) {
    for (const auto& [end, code] : codes) {
      FakeHttpCall call(line, "", "");
      HttpTask* const task = door_->Arrived(&call);
      ASSERT_NE(task, nullptr);
      task->Serve(end);
      EXPECT_EQ(call.reply->status, code);
      task->Over();
    }
  }
}

TEST_F(HttpDoorTest, MoreCallsThanMayBeOpenAreRefused) {
  std::vector<std::pair<std::unique_ptr<FakeHttpCall>, HttpTask*>> open;
  int refused = 0;
  for (uint32_t i = 0; i <= kOpenCalls; ++i) {
    auto call = std::make_unique<FakeHttpCall>("POST /v2/models/m/infer", "", "");
    if (HttpTask* const task = door_->Arrived(call.get()); task != nullptr) {
      open.emplace_back(std::move(call), task);
    } else {
      EXPECT_EQ(call->reply->status, 429);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  for (auto& [call, task] : open) {
    task->Serve(BodyEnd::kClientLeft);
    task->Over();
  }
}

TEST_F(HttpDoorTest, AMethodAnswersByItsCode) {
  EXPECT_EQ(CodeOf("GET /v2/models/m/ready"), 200);
  EXPECT_EQ(body(), "");
  EXPECT_EQ(CodeOf("GET /v2/models/x/ready"), 503);
  EXPECT_EQ(open_other_calls_.count(), 0U);
}

TEST_F(HttpDoorTest, ADeferredMethodAnswersLater) {
  HttpTask* const task = Bring("POST /v2/repository/models/m/load", "", "{}");
  ASSERT_NE(task, nullptr);
  EXPECT_FALSE(call_->reply.has_value());
  loads_.back()(absl::UnavailableError("not now"));
  EXPECT_EQ(call_->reply->status, 503);
  EXPECT_EQ(body(), "{\"error\":\"not now\"}");
  task->Over();
}

TEST_F(HttpDoorTest, BodiesOfMethodsHaveABoundOfTheirOwn) {
  const std::string largest = "{" + std::string(MethodTask::kMaxRequestBytes - 2, ' ') + "}";
  HttpTask* const task = Bring("POST /v2/repository/models/m/load", "", largest);
  loads_.back()(absl::OkStatus());
  EXPECT_EQ(call_->reply->status, 200);
  task->Over();
  EXPECT_EQ(CodeOf("POST /v2/repository/models/m/load", "", largest + " "), 413);
}

TEST_F(HttpDoorTest, AModelThatIsNotThereIsSaidBeforeAWrongBody) {
  models_.Publish(handler_.Model("m"));
  EXPECT_EQ(CodeOf("POST /v2/models/x/infer", "", "{"), 404);
  EXPECT_TRUE(absl::StrContains(body(), "unknown model: 'x'")) << body();
  EXPECT_EQ(CodeOf("POST /v2/models/m/versions/9/infer", "", "{}"), 404);
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", "", "{"), 400);
}

TEST_F(HttpDoorTest, UnknownPathsAndWrongMethodsAreErrorsOfJson) {
  EXPECT_EQ(CodeOf("GET /nothing"), 404);
  EXPECT_TRUE(absl::StartsWith(body(), "{\"error\":")) << body();
  EXPECT_EQ(CodeOf("GET /v2/models/m/infer"), 405);
  EXPECT_EQ(call_->reply->headers, "Allow: POST\r\n");
  EXPECT_EQ(CodeOf("POST /metrics"), 405);
}

TEST_F(HttpDoorTest, PagesAreNotKept) {
  EXPECT_EQ(CodeOf("GET /livez"), 200);
  EXPECT_EQ(body(), "ok");
  EXPECT_EQ(call_->reply->headers, "Cache-Control: no-store\r\n");
}

TEST_F(HttpDoorTest, TheStatusIsAPageAtTheRootAndJsonElsewhere) {
  EXPECT_EQ(CodeOf("GET /"), 200);
  EXPECT_STREQ(call_->reply->content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(absl::StrContains(body(), "<td>&lt;b&gt;</td>")) << body();
  EXPECT_TRUE(absl::StrContains(call_->reply->headers, "Content-Security-Policy: default-src"));
  EXPECT_EQ(CodeOf("GET /mpsd/status"), 200);
  EXPECT_STREQ(call_->reply->content_type, "application/json");
  EXPECT_TRUE(absl::StrContains(body(), R"("models":[{"name":"<b>",)")) << body();
}

TEST_F(HttpDoorTest, ThePageOfARefusedCallerHasNoState) {
  SetRules();
  EXPECT_EQ(CodeOf("GET /", "Accept: text/html,*/*;q=0.8\r\n"), 401);
  EXPECT_STREQ(call_->reply->content_type, "text/html; charset=utf-8");
  EXPECT_TRUE(absl::StrContains(call_->reply->headers, "WWW-Authenticate: Bearer\r\n"));
  EXPECT_TRUE(absl::StrContains(call_->reply->headers, "Content-Security-Policy: default-src"));
  EXPECT_TRUE(absl::StrContains(body(), "<script>"));
  EXPECT_FALSE(absl::StrContains(body(), "&lt;b&gt;"));
  EXPECT_EQ(CodeOf("GET /", "Accept: */*\r\n"), 401);
  EXPECT_TRUE(absl::StartsWith(body(), "{\"error\":")) << body();
  EXPECT_EQ(CodeOf("GET /", "Accept: text/html\r\nX-Api-Key: secret\r\n"), 403);
  EXPECT_EQ(CodeOf("GET /mpsd/status", "X-Api-Key: secret\r\n"), 403);
}

TEST_F(HttpDoorTest, ThePageIsForCallersOnThisHost) {
  call_ = std::make_unique<FakeHttpCall>("GET /", "Accept: text/html\r\n", "");
  call_->told_peer = "ipv4:192.0.2.1:5";
  HttpTask* const task = door_->Arrived(call_.get());
  task->Serve(BodyEnd::kWhole);
  EXPECT_EQ(call_->reply->status, 403);
  EXPECT_TRUE(absl::StrContains(body(), "not from elsewhere")) << body();
  EXPECT_FALSE(absl::StrContains(body(), "&lt;b&gt;"));
  task->Over();
}

TEST_F(HttpDoorTest, AnyCredentialsReadTheDocumentOfRoutes) {
  EXPECT_EQ(CodeOf("GET /docs"), 200);
  EXPECT_TRUE(absl::StrContains(body(), "\"openapi\": \"3.1.0\""));
  SetRules();
  EXPECT_EQ(CodeOf("GET /docs"), 401);
  EXPECT_EQ(CodeOf("GET /docs", "X-Api-Key: secret\r\n"), 200);
}

TEST_F(HttpDoorTest, WithoutCredentialsEveryPathIsRefused) {
  SetRules();
  for (const char* line :
       {"POST /v2/models/m/infer", "GET /v2/models/m", "GET /metrics", "GET /livez", "GET /nothing",
        "PUT /v2", "POST /v2/repository/index", "GET /", "GET /docs", "GET /mpsd/status"}) {
    EXPECT_EQ(CodeOf(line), 401) << line;
  }
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(HttpDoorTest, ATokenOpensWhatItsRulesName) {
  models_.Publish(handler_.Model("m"));
  SetRules();
  for (const char* header : {"Authorization: Bearer secret\r\n", "X-Api-Key: secret\r\n"}) {
    EXPECT_EQ(CodeOf("GET /v2/models/m/ready", header), 200);
    EXPECT_EQ(CodeOf("POST /v2/models/m/infer", header, "{"), 400);
    EXPECT_EQ(CodeOf("POST /v2/models/x/infer", header, "{"), 403);
    EXPECT_EQ(CodeOf("GET /v2/models/x/ready", header), 403);
    EXPECT_EQ(CodeOf("GET /metrics", header), 403);
    EXPECT_EQ(CodeOf("GET /nothing", header), 404);
    EXPECT_EQ(CodeOf("PUT /metrics", header), 405);
  }
  EXPECT_EQ(CodeOf("GET /v2/models/m/ready", "X-Api-Key: wrong\r\n"), 401);
  EXPECT_EQ(
      CodeOf("GET /v2/models/m/ready", "X-Api-Key: secret\r\nAuthorization: Bearer secret\r\n"),
      401);
}

TEST_F(HttpDoorTest, ARequestThatOnlyLooksChangesNothing) {
  std::vector<size_t> settings;
  methods_.AddTyped<inference::LogSettingsRequest, inference::LogSettingsResponse>(
      InferenceMethodName("LogSettings"), MethodTable::Kind::kUnary,
      [&settings](const CallerInfo&, const auto& request, auto*) {
        settings.push_back(request.settings_size());
        return absl::OkStatus();
      });
  const std::string body = R"({"log_info":false})";
  for (const char* method : {"GET", "HEAD", "POST"}) {
    EXPECT_EQ(CodeOf(absl::StrCat(method, " /v2/logging"), "", body), 200) << method;
  }
  EXPECT_EQ(settings, (std::vector<size_t>{0, 0, 1}));
}

TEST_F(HttpDoorTest, ASlashAtTheEndOfAPageIsIgnored) {
  for (const char* path : {"/livez/", "/readyz/", "/metrics/", "/v2/health/live/"}) {
    EXPECT_EQ(CodeOf(absl::StrCat("GET ", path)), 200) << path;
  }
}

}  // namespace
}  // namespace mpsd
