#include "server/door/text_task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/request/too_long.h"
#include "tests/server/bodies/text_routes/text_models.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

constexpr char kOneText[] = R"({"model":"m","input":"a"})";

// "m" gives a vector of one number for each text, in batches of four.
class TextTaskTest : public HttpDoorTest {
 protected:
  TextTaskTest() {
    models_.Publish(ServedEmbedder("m", 1));
    context_.open_infer_calls = &many_calls_;
    door_ = std::make_unique<HttpDoor>(context_, &thread_);
  }

  HttpTask* Post(const std::string& path, const std::string& body) {
    return Bring(absl::StrCat("POST ", path), "X-Request-Id: a\r\n", body);
  }
  // Asks for so many texts.
  HttpTask* Embed(int count) {
    std::string texts;
    for (int i = 0; i < count; ++i) absl::StrAppend(&texts, i > 0 ? "," : "", "\"t\"");
    return Post("/embed", absl::StrCat(R"({"normalize":false,"inputs":[)", texts, "]}"));
  }

  // The model answers the request of that number with a row for each value.
  void AnswerRows(size_t request, const std::vector<float>& values) {
    auto answer = FakeAnswer(values);
    answer.outputs[0].dims = {static_cast<int64_t>(values.size()), 1};
    handler_.requests()[request]->reply.Send(answer);
  }

  static constexpr uint32_t kManyCalls = 12;

  int CodeOfText(const std::string& path, const std::string& body) {
    if (HttpTask* const task = Post(path, body); task != nullptr) task->Over();
    return call_->reply.has_value() ? call_->reply->status : 0;
  }

  OpenCalls many_calls_{kManyCalls, &metrics_.refused_calls};
};

TEST_F(TextTaskTest, AnswersInTheFormOfTheRoute) {
  HttpTask* const task = Post("/v1/embeddings", kOneText);
  handler_.last()->token_count = 5;
  AnswerRows(0, {2});
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_EQ(body(),
            R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0]}],)"
            R"("model":"m","usage":{"prompt_tokens":5,"total_tokens":5}})");
  EXPECT_EQ(call_->reply->headers, "X-Request-Id: a\r\n");
  task->Over();
  EXPECT_EQ(Post("/v1/embeddings", kOneText), task) << "it is used again";
  AnswerRows(1, {3});
  task->Over();
  EXPECT_EQ(metrics_.open_calls, 0);
  EXPECT_EQ(many_calls_.count(), 0u);
}

TEST_F(TextTaskTest, EachRequestOfACallTakesAPlace) {
  HttpTask* task = Embed(12);
  EXPECT_EQ(many_calls_.count(), 3u);
  for (size_t i = 0; i < 3; ++i) AnswerRows(i, {0, 1, 2, 3});
  EXPECT_EQ(call_->reply->status, 200);
  task->Over();
  EXPECT_EQ(many_calls_.count(), 0u);
  // One client at one model gets a third of them. Beyond these no request of the call begins.
  task = Embed(40);
  EXPECT_EQ(handler_.count(), 6u);
  task->Resumed();
  EXPECT_EQ(handler_.queue.cancelled, 3);
  EXPECT_EQ(call_->reply->status, 429);
  task->Over();
  EXPECT_EQ(many_calls_.count(), 0u);
}

TEST_F(TextTaskTest, TheOnlyModelNeedsNoName) {
  HttpTask* const task = Post("/embed", R"({"inputs":"a"})");
  AnswerRows(0, {2});
  EXPECT_EQ(body(), "[[1.0]]");
  task->Over();
}

TEST_F(TextTaskTest, TruncatedTextsAreTold) {
  HttpTask* const task = Embed(1);
  handler_.last()->truncated_texts = 1;
  AnswerRows(0, {2});
  EXPECT_TRUE(absl::StrContains(call_->reply->headers, "x-mpsd-truncated: 1\r\n"));
  task->Over();
}

TEST_F(TextTaskTest, RowsBeyondABatchAreFurtherRequests) {
  HttpTask* const task = Embed(10);
  ASSERT_EQ(handler_.count(), 3u);
  // The task's own request comes last; the parts before it.
  AnswerRows(2, {0, 1, 2, 3});
  AnswerRows(1, {8, 9});
  EXPECT_FALSE(call_->reply.has_value());
  for (Request* const request : handler_.requests()) request->truncated_texts = 1;
  AnswerRows(0, {4, 5, 6, 7});
  ASSERT_TRUE(call_->reply.has_value());
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_EQ(body(), "[[0.0],[1.0],[2.0],[3.0],[4.0],[5.0],[6.0],[7.0],[8.0],[9.0]]");
  EXPECT_TRUE(absl::StrContains(call_->reply->headers, "x-mpsd-truncated: 3\r\n"));
  task->Over();
  EXPECT_EQ(Embed(1), task) << "it is used again";
  AnswerRows(3, {2});
  EXPECT_EQ(body(), "[[2.0]]");
  task->Over();
}

TEST_F(TextTaskTest, TheFirstFaultEndsTheOtherRequests) {
  HttpTask* task = Embed(12);
  ASSERT_EQ(handler_.count(), 3u);
  handler_.requests()[1]->reply.Fail(absl::ResourceExhaustedError("late"));
  EXPECT_FALSE(call_->reply.has_value());
  EXPECT_EQ(call_->resumes, 1);
  task->Resumed();
  EXPECT_EQ(handler_.queue.cancelled, 3) << "the one that has ended too, which does nothing";
  ASSERT_TRUE(call_->reply.has_value());
  EXPECT_EQ(call_->reply->status, 429);
  EXPECT_TRUE(absl::StrContains(body(), "late")) << "not that the others were cancelled";
  task->Over();
  EXPECT_EQ(Embed(1), task) << "it is used again";
  AnswerRows(3, {2});
  EXPECT_EQ(call_->reply->status, 200);
  task->Over();
}

TEST_F(TextTaskTest, TheLastRequestThatFailsHasNoneToEnd) {
  HttpTask* const task = Embed(8);
  AnswerRows(0, {4, 5, 6, 7});
  handler_.requests()[1]->reply.Fail(absl::UnavailableError("gone"));
  EXPECT_EQ(call_->resumes, 0);
  EXPECT_EQ(call_->reply->status, 503);
  task->Over();
}

TEST_F(TextTaskTest, TheFirstFaultInTheOrderOfTheRowsIsTold) {
  HttpTask* const task = Embed(12);
  ASSERT_EQ(handler_.count(), 3u);
  handler_.requests()[1]->reply.Fail(absl::UnavailableError("third"));
  handler_.requests()[0]->reply.Fail(TooLong("second"));
  EXPECT_FALSE(call_->reply.has_value()) << "one may still be answered";
  AnswerRows(2, {0, 1, 2, 3});
  EXPECT_FALSE(call_->reply.has_value()) << "the call must outlive the cancel on its way";
  task->Resumed();
  EXPECT_EQ(call_->reply->status, 413);
  EXPECT_EQ(body(), R"({"error":"second","error_type":"Validation"})");
  task->Over();
}

TEST_F(TextTaskTest, ARefusalOfEveryPartIsOneReply) {
  handler_.refusal = absl::UnavailableError("exiting");
  HttpTask* const task = Embed(6);
  EXPECT_EQ(call_->resumes, 1);
  task->Resumed();
  EXPECT_EQ(call_->reply->status, 503);
  EXPECT_EQ(body(), R"({"error":"exiting","error_type":"Unhealthy"})");
  task->Over();
}

TEST_F(TextTaskTest, AllRequestsEndWithTheirClient) {
  HttpTask* const task = Embed(9);
  task->ClientLeft();
  EXPECT_EQ(handler_.queue.cancelled, 3);
  EXPECT_EQ(call_->resumes, 1);
  task->Resumed();
  EXPECT_EQ(call_->reply->status, 499);
  task->Over();
}

TEST_F(TextTaskTest, EachPartWaitsForItsOwnTexts) {
  handler_.awaits_texts = true;
  HttpTask* const task = Embed(8);
  ASSERT_EQ(handler_.waiters.size(), 2u);
  handler_.awaits_texts = false;
  handler_.waiters[1]->TextsDone(absl::OkStatus());
  handler_.waiters[0]->TextsDone(absl::OkStatus());
  EXPECT_EQ(call_->resumes, 2);
  task->Resumed();
  EXPECT_EQ(handler_.count(), 1u);
  task->Resumed();
  ASSERT_EQ(handler_.count(), 2u);
  AnswerRows(0, {1, 2, 3, 4});
  AnswerRows(1, {5, 6, 7, 8});
  EXPECT_EQ(call_->reply->status, 200);
  task->Over();
}

TEST_F(TextTaskTest, AnAnswerThatIsNoRowFailsItsRequest) {
  HttpTask* const task = Embed(2);
  AnswerRows(0, {1});
  EXPECT_EQ(call_->reply->status, 424);
  EXPECT_TRUE(absl::StrContains(body(), "is no row of numbers")) << body();
  task->Over();
}

TEST_F(TextTaskTest, RequestsWithRowsOfOtherWidthsHaveNoAnswer) {
  HttpTask* const task = Embed(8);
  AnswerRows(0, {4, 5, 6, 7});
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7};
  auto wide = FakeAnswer(values);
  wide.outputs[0].dims = {4, 2};
  handler_.requests()[1]->reply.Send(wide);
  EXPECT_EQ(call_->reply->status, 424) << body();
  EXPECT_TRUE(absl::StrContains(body(), "has rows of other lengths")) << body();
  task->Over();
}

TEST_F(TextTaskTest, RefusalsHaveTheFormOfTheRoute) {
  EXPECT_EQ(CodeOfText("/v1/embeddings", R"({"model":"x","input":"a"})"), 404);
  EXPECT_TRUE(absl::StrContains(body(), R"("code":"model_not_found")")) << body();
  EXPECT_EQ(CodeOfText("/v1/embeddings", R"({"input":[]})"), 400);
  EXPECT_TRUE(absl::StartsWith(body(), R"({"error":{"message":)")) << body();
  EXPECT_EQ(CodeOfText("/embed", "{"), 422);
  EXPECT_TRUE(absl::StrContains(body(), R"("error_type":"Validation")")) << body();
  EXPECT_EQ(CodeOfText("/api/embed", R"({"input":7})"), 400);
  EXPECT_TRUE(absl::StartsWith(body(), R"({"error":"Unable to parse 'input')")) << body();
  EXPECT_EQ(CodeOfText("/rerank", R"({"query":"q","texts":["a"]})"), 422);
  EXPECT_TRUE(absl::StrContains(body(), "does not answer this path")) << body();
}

TEST_F(TextTaskTest, MoreRowsThanAllowedAreTooLarge) {
  std::string tokens = "[1]";
  for (size_t i = 1; i < 4 * kMaxRequestParts + 1; ++i) tokens += ",[1]";
  EXPECT_EQ(CodeOfText("/v1/embeddings", absl::StrCat(R"({"input":[)", tokens, "]}")), 413);
  EXPECT_TRUE(absl::StrContains(body(), "at most 256 rows for model 'm'")) << body();
  EXPECT_EQ(handler_.count(), 0u);
}

TEST_F(TextTaskTest, TheGateIsAskedAboutTheModelOfTheBody) {
  SetRules();
  models_.Publish(ServedEmbedder("secret", 1));
  const auto code = [this](const std::string& headers, const std::string& model) {
    return CodeOf("POST /v1/embeddings", headers,
                  absl::StrCat(R"({"input":"a","model":")", model, "\"}"));
  };
  EXPECT_EQ(code("", "m"), 401);
  EXPECT_TRUE(absl::StrContains(body(), "authentication_error")) << body();
  const std::string token = "Authorization: Bearer secret\r\n";
  EXPECT_EQ(code(token, "secret"), 403);
  EXPECT_EQ(code(token, "unknown"), 403) << "nobody learns which models there are";
  handler_.answers_at_once = true;
  EXPECT_EQ(code(token, "m"), 200);
}

}  // namespace
}  // namespace mpsd
