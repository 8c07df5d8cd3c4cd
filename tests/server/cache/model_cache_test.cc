#include "server/cache/model_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

#include "server/telemetry/model_metrics.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;

class ModelCacheTest : public testing::Test {
 protected:
  // A checked request whose one input has these bytes.
  FakeCall* Call(const std::string& content, uint32_t tenant = 0) {
    FakeCall& call = calls_.emplace_back();
    call.Describe(1, {1}, clock_.NowNs() - 1000, kNsPerSecond);
    Payload& payload = payloads_.emplace_back();
    payload.Append(contents_.emplace_back(content));
    call.request.inputs[0].payload = &payload;
    call.request.metrics = &metrics_;
    call.request.tenant = tenant;
    return &call;
  }

  static Answer AnswerOf(absl::string_view bytes) {
    Answer answer;
    answer.outputs.resize(1);
    answer.outputs[0].name = "y";
    answer.outputs[0].datatype = DataType::kUint8;
    answer.outputs[0].dims = {1, static_cast<int64_t>(bytes.size())};
    answer.outputs[0].bytes = bytes;
    return answer;
  }

  // Asks for the content, and gives and keeps the answer where none was found.
  bool Ask(AnswerCache* cache, const std::string& content, uint32_t tenant = 0) {
    FakeCall* call = Call(content, tenant);
    if (cache->TryAnswer(&call->request)) return true;
    const std::string bytes = "answer to " + content;
    const Answer answer = AnswerOf(bytes);
    if (call->request.cache_key.has_value()) cache->Keep(call->request, answer);
    call->request.reply.Send(answer);
    return false;
  }

  FakeClock clock_;
  ModelMetrics metrics_;
  ResponseCache answers_{100'000};
  std::deque<std::string> contents_;
  std::deque<Payload> payloads_;
  std::deque<FakeCall> calls_;
  ModelCache cache_{&answers_, CacheScope::kTenant, &clock_};
};

TEST_F(ModelCacheTest, AnEqualRequestIsGivenTheAnswer) {
  EXPECT_FALSE(Ask(&cache_, "one"));
  FakeCall* call = Call("one");
  ASSERT_TRUE(cache_.TryAnswer(&call->request));
  ASSERT_EQ(call->endings(), 1);
  ASSERT_EQ(call->sink.outputs().size(), 1u);
  EXPECT_EQ(call->sink.outputs()[0].name, "y");
  EXPECT_EQ(call->sink.outputs()[0].bytes, "answer to one");
  EXPECT_THAT(call->sink.outputs()[0].dims, ElementsAre(1, 13));
  EXPECT_EQ(call->sink.memory(), nullptr);
}

TEST_F(ModelCacheTest, AnotherRequestIsNot) {
  EXPECT_FALSE(Ask(&cache_, "one"));
  EXPECT_FALSE(Ask(&cache_, "two"));
  EXPECT_TRUE(Ask(&cache_, "two"));
}

TEST_F(ModelCacheTest, ATenantIsNotGivenAnothersAnswer) {
  EXPECT_FALSE(Ask(&cache_, "one", /*tenant=*/1));
  EXPECT_FALSE(Ask(&cache_, "one", /*tenant=*/2));
  EXPECT_TRUE(Ask(&cache_, "one", /*tenant=*/2));
  ModelCache shared(&answers_, CacheScope::kShared, &clock_);
  EXPECT_FALSE(Ask(&shared, "one", /*tenant=*/1));
  EXPECT_TRUE(Ask(&shared, "one", /*tenant=*/2));
}

TEST_F(ModelCacheTest, TheNextGenerationBeginsWithNone) {
  auto first = std::make_unique<ModelCache>(&answers_, CacheScope::kTenant, &clock_);
  EXPECT_FALSE(Ask(first.get(), "one"));
  ModelCache second(&answers_, CacheScope::kTenant, &clock_);
  EXPECT_FALSE(Ask(&second, "one"));
  EXPECT_EQ(answers_.usage().answers, 2u);
  first.reset();
  EXPECT_EQ(answers_.usage().answers, 1u);
  EXPECT_TRUE(Ask(&second, "one"));
}

TEST_F(ModelCacheTest, CountsAsTriton) {
  Ask(&cache_, "one");
  Ask(&cache_, "one");
  Ask(&cache_, "one");
  const InferenceStatistics::Totals totals = metrics_.inference.Read();
  EXPECT_EQ(metrics_.cache_hits, 2u);
  EXPECT_EQ(metrics_.cache_misses, 1u);
  EXPECT_EQ(totals.cache_hit.count, 2u);
  EXPECT_EQ(totals.cache_miss.count, 1u);
  EXPECT_EQ(totals.success.count, 2u);  // a miss is counted by its batch
  EXPECT_EQ(totals.success.ns, 2000u);
  EXPECT_EQ(totals.queue.count, 2u);
  EXPECT_EQ(totals.queue.ns, 2000u);
  EXPECT_EQ(totals.inference_count, 0u);
  EXPECT_EQ(totals.execution_count, 0u);
}

TEST_F(ModelCacheTest, WhatIsTooLargeIsNeitherLookedForNorKept) {
  EXPECT_FALSE(Ask(&cache_, std::string(kMostDigestedBytes + 1, 'x')));
  EXPECT_EQ(metrics_.cache_misses, 0u);
  FakeCall* call = Call("one");
  EXPECT_FALSE(cache_.TryAnswer(&call->request));
  const std::string large(100'000 / 8, 'y');
  cache_.Keep(call->request, AnswerOf(large));
  call->request.reply.Send(Answer());
  EXPECT_EQ(answers_.usage().answers, 0u);
  EXPECT_EQ(metrics_.cache_misses, 1u);
}

}  // namespace
}  // namespace mpsd
