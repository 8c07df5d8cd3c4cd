#include "server/door/generate_task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/server/door/door_fixture.h"

namespace mpsd {
namespace {

constexpr char kShort[] = R"({"id":"7","x":[1,2]})";

// "m" answers once, "many" any number of times.
class GenerateTaskTest : public HttpDoorTest {
 protected:
  GenerateTaskTest() {
    for (const char* name : {"m", "many"}) {
      const std::shared_ptr<ServedModel> model = handler_.Model(name);
      TensorSpec input;
      input.name = "x";
      input.datatype = DataType::kFp32;
      input.dims = {-1};
      model->spec.inputs = {input};
      models_.Publish(model);
    }
  }

  HttpTask* Generate(const std::string& model, const std::string& body = kShort) {
    return Bring(absl::StrCat("POST /v2/models/", model, "/generate"), "X-Request-Id: a\r\n", body);
  }
  HttpTask* Stream(const std::string& model) {
    return Bring(absl::StrCat("POST /v2/models/", model, "/generate_stream"), "X-Request-Id: a\r\n",
                 kShort);
  }
  void AnswerInPart(float value) { handler_.SendPart(handler_.last(), {value}); }
  static std::string Event(const std::string& model, const std::string& value) {
    return absl::StrCat("data: {\"model_name\":\"", model,
                        "\",\"model_version\":\"1\",\"id\":\"7\",\"y\":", value, "}\n\n");
  }
};

TEST_F(GenerateTaskTest, AnOrdinaryModelAnswersOnce) {
  HttpTask* const task = Generate("m");
  Answer({0.5F});
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_EQ(body(), R"({"model_name":"m","model_version":"1","id":"7","y":0.5})");
  EXPECT_STREQ(call_->reply->content_type, "application/json");
  EXPECT_EQ(call_->reply->headers, "X-Request-Id: a\r\n");
  task->Over();
  EXPECT_EQ(Generate("m"), task) << "it is used again";
  Answer({1, 2});
  EXPECT_TRUE(absl::EndsWith(body(), "\"y\":[1.0,2.0]}")) << body();
  task->Over();
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(GenerateTaskTest, ADecoupledModelMayAnswerOnceToo) {
  HttpTask* const task = Generate("many");
  AnswerInPart(3);
  EXPECT_EQ(handler_.queue.continued, 1);
  EXPECT_FALSE(call_->reply.has_value());
  handler_.last()->reply.End();
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_TRUE(absl::EndsWith(body(), "\"y\":3.0}")) << body();
  task->Over();
}

TEST_F(GenerateTaskTest, NoAnswerAndTwoAreRefused) {
  HttpTask* task = Generate("many");
  handler_.last()->reply.End();
  EXPECT_EQ(call_->reply->status, 400);
  EXPECT_TRUE(absl::StrContains(body(), "exactly 1 response")) << body();
  task->Over();
  task = Generate("many");
  AnswerInPart(1);
  AnswerInPart(2);
  EXPECT_EQ(call_->reply->status, 400);
  EXPECT_TRUE(absl::StrContains(body(), "exactly 1 response")) << body();
  EXPECT_EQ(handler_.queue.cancelled, 1);
  task->Over();
}

TEST_F(GenerateTaskTest, AStreamOfAnOrdinaryModelHasOneEvent) {
  HttpTask* const task = Stream("m");
  Answer({0.5F});
  EXPECT_TRUE(call_->parts.empty());
  EXPECT_EQ(body(), Event("m", "0.5"));
  EXPECT_STREQ(call_->reply->content_type, "text/event-stream; charset=utf-8");
  EXPECT_EQ(call_->reply->headers, "Cache-Control: no-cache\r\nX-Request-Id: a\r\n");
  task->Over();
}

TEST_F(GenerateTaskTest, TheNextAnswerIsWantedWhenTheEventIsTaken) {
  HttpTask* const task = Stream("many");
  AnswerInPart(1);
  EXPECT_EQ(handler_.queue.continued, 0);
  task->PartTaken(true);
  EXPECT_EQ(handler_.queue.continued, 1);
  AnswerInPart(2);
  task->PartTaken(true);
  handler_.last()->reply.End();
  ASSERT_EQ(call_->parts.size(), 2U);
  EXPECT_EQ(call_->parts[0].body, Event("many", "1.0"));
  EXPECT_EQ(call_->parts[0].headers, "Cache-Control: no-cache\r\nX-Request-Id: a\r\n");
  EXPECT_EQ(call_->parts[1].body, Event("many", "2.0"));
  EXPECT_EQ(body(), "");
  task->Over();
}

TEST_F(GenerateTaskTest, AStreamMayHaveNoEvent) {
  HttpTask* const task = Stream("many");
  handler_.last()->reply.End();
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_EQ(body(), "");
  EXPECT_STREQ(call_->reply->content_type, "text/event-stream; charset=utf-8");
  task->Over();
}

TEST_F(GenerateTaskTest, AnErrorIsACodeBeforeTheFirstEventAndAnEventAfterIt) {
  HttpTask* task = Stream("many");
  handler_.last()->reply.Fail(absl::UnavailableError("worker lost"));
  EXPECT_EQ(call_->reply->status, 503);
  EXPECT_EQ(body(), R"({"error":"worker lost"})");
  task->Over();
  task = Stream("many");
  AnswerInPart(1);
  task->PartTaken(true);
  handler_.last()->reply.Fail(absl::UnavailableError("worker lost"));
  EXPECT_EQ(body(), "data: {\"error\":\"worker lost\"}\n\n");
  task->Over();
}

TEST_F(GenerateTaskTest, AClientThatTakesNoEventEndsItsRequest) {
  HttpTask* const task = Stream("many");
  AnswerInPart(1);
  task->ClientLeft();
  EXPECT_FALSE(call_->reply.has_value());
  task->PartTaken(false);
  EXPECT_TRUE(call_->reply.has_value());
  task->Over();
  EXPECT_EQ(metrics_.open_calls, 0);
}

TEST_F(GenerateTaskTest, ModelsThatCannotBeReadForAreRefused) {
  EXPECT_EQ(CodeOf("POST /v2/models/x/generate", "", kShort), 404);
  EXPECT_TRUE(absl::StrContains(body(), "unknown model: 'x'")) << body();
  handler_.Model("m")->loaded = false;
  EXPECT_EQ(CodeOf("POST /v2/models/m/generate", "", kShort), 503);
  EXPECT_TRUE(absl::StrContains(body(), "is not at ready state")) << body();
  EXPECT_EQ(CodeOf("GET /v2/models/m/generate_stream"), 405);
  EXPECT_EQ(handler_.count(), 0U);
}

// The model of this fixture has one input, "x".
TEST_F(GenerateTaskTest, ABodyWithoutJsonIsTheOnlyInput) {
  const std::string bytes(8, '\0');
  HttpTask* const task =
      Bring("POST /v2/models/m/infer", "Inference-Header-Content-Length: 0\r\n", bytes);
  ASSERT_EQ(handler_.count(), 1U);
  Answer({0.5F});
  EXPECT_EQ(call_->reply->status, 200);
  EXPECT_STREQ(call_->reply->content_type, "application/octet-stream");
  task->Over();
  EXPECT_EQ(CodeOf("POST /v2/models/m/infer", "Inference-Header-Content-Length: 0\r\n", "abc"),
            400);
}

}  // namespace
}  // namespace mpsd
