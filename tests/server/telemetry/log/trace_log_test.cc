#include "server/telemetry/log/trace_log.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "server/telemetry/log/request_log.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::SizeIs;

class TraceLogTest : public testing::Test {
 protected:
  TraceLogTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    read_end_.Reset(ends[0]);
    write_end_.Reset(ends[1]);
    request_.model = "m";
    request_.version = "1";
    request_.code = "OK";
    request_.arrival_ns = 1000;
    request_.batched_ns = 1100;
    request_.started_ns = 1200;
    request_.finished_ns = 1300;
    request_.ended_ns = 1400;
  }

  void Make(TraceFormat format, const TraceSettings& settings = {}) {
    auto file = std::make_unique<LogFile>(std::move(write_end_));
    log_ = std::make_unique<TraceLog>(TraceTarget{std::move(file), format, sink_}, settings, 7,
                                      &clock_, &metrics_);
  }

  void Write(const RequestSpan& span) {
    request_.span = &span;
    log_->Write(request_);
  }
  void Write() { Write(log_->Begin("", "")); }

  // Ends the log, which writes what is queued, and returns every line.
  std::vector<Json> Lines() {
    log_.reset();
    write_end_.Reset();
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(read_end_.get(), buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    std::vector<Json> lines;
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      lines.push_back(Json::parse(line.begin(), line.end(), nullptr, false));
      EXPECT_TRUE(lines.back().is_object()) << line;
    }
    return lines;
  }

  int Wanted(int calls, std::optional<bool> sampled = {}, const char* model = "m") {
    int wanted = 0;
    for (int i = 0; i < calls; ++i) wanted += log_->Wants(model, sampled);
    return wanted;
  }

  FakeClock clock_;
  ServerMetrics metrics_;
  UniqueFd read_end_;
  UniqueFd write_end_;
  SpanSink* sink_ = nullptr;
  std::unique_ptr<TraceLog> log_;
  EndedRequest request_;
};

TEST_F(TraceLogTest, ARequestHasASpanAndOneAStage) {
  Make(TraceFormat::kLines);
  Write();
  const std::vector<Json> spans = Lines();
  ASSERT_THAT(spans, SizeIs(5));
  std::vector<std::string> names;
  std::set<std::string> ids;
  for (const Json& span : spans) {
    names.push_back(span["name"]);
    ids.insert(span["span_id"].get<std::string>());
    EXPECT_EQ(span["trace_id"], spans[0]["trace_id"]);
  }
  EXPECT_THAT(names, ElementsAre("request", "queue", "dispatch", "execute", "respond"));
  EXPECT_THAT(ids, SizeIs(5));
  EXPECT_EQ(spans[0]["trace_id"].get<std::string>().size(), 32u);
  EXPECT_EQ(spans[0]["parent_id"], "");
  for (size_t i = 1; i < 5; ++i) {
    EXPECT_EQ(spans[i]["parent_id"], spans[0]["span_id"]);
    EXPECT_EQ(spans[i]["end_ns"].get<int64_t>() - spans[i]["begin_ns"].get<int64_t>(), 100);
  }
  EXPECT_EQ(spans[1]["begin_ns"], spans[0]["begin_ns"]);
  EXPECT_EQ(spans[4]["end_ns"], spans[0]["end_ns"]);
}

TEST_F(TraceLogTest, WhatNeverRanHasNoStages) {
  Make(TraceFormat::kLines);
  request_.batched_ns = request_.started_ns = request_.finished_ns = 0;
  request_.code = "NOT_FOUND";
  Write(log_->Begin("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"));
  const std::vector<Json> spans = Lines();
  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0]["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(spans[0]["parent_id"], "00f067aa0ba902b7");
  EXPECT_EQ(spans[0]["code"], "NOT_FOUND");
}

TEST_F(TraceLogTest, TheSpanOfAStepLiesBelowThatOfItsWhole) {
  Make(TraceFormat::kLines);
  const RequestSpan whole = log_->Begin("", "");
  Write(log_->BeginStep(whole, "steps[1] left"));
  Write(whole);
  const std::vector<Json> spans = Lines();
  ASSERT_THAT(spans, SizeIs(10));
  EXPECT_EQ(spans[0]["name"], "steps[1] left");
  EXPECT_EQ(spans[5]["name"], "request");
  EXPECT_EQ(spans[0]["parent_id"], spans[5]["span_id"]);
  EXPECT_EQ(spans[1]["parent_id"], spans[0]["span_id"]) << "its stages are its own";
  for (const Json& span : spans) EXPECT_EQ(span["trace_id"], spans[5]["trace_id"]);
  EXPECT_EQ(spans[0]["begin_ns"], spans[5]["begin_ns"]) << "dated alike";
}

TEST_F(TraceLogTest, AStepIsNoCall) {
  Make(TraceFormat::kOtlp);
  Write(log_->BeginStep(log_->Begin("", ""), "steps[0] first"));
  const std::vector<Json> lines = Lines();
  ASSERT_THAT(lines, SizeIs(1));
  const Json& step = lines[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(step["name"], "steps[0] first");
  EXPECT_EQ(step["kind"], 1);
  EXPECT_EQ(step["attributes"][0]["key"], "model_name");
  EXPECT_EQ(step["status"]["code"], 1);
}

TEST_F(TraceLogTest, OtlpIsOneLineARequest) {
  Make(TraceFormat::kOtlp);
  request_.id = "an \"id\"";
  request_.code = "INTERNAL";
  Write();
  const std::vector<Json> lines = Lines();
  ASSERT_THAT(lines, SizeIs(1));
  const Json& spans = lines[0]["resourceSpans"][0]["scopeSpans"][0]["spans"];
  ASSERT_THAT(spans, SizeIs(5));
  EXPECT_FALSE(spans[0].contains("parentSpanId"));
  EXPECT_EQ(spans[0]["status"]["code"], 2);
  EXPECT_EQ(spans[1]["parentSpanId"], spans[0]["spanId"]);
  EXPECT_TRUE(spans[0]["startTimeUnixNano"].is_string()) << "64 bits are text in protobuf's JSON";
}

class KeepingSink final : public SpanSink {
 public:
  void Send(std::string spans) override { requests.push_back(std::move(spans)); }
  std::vector<std::string> requests;
};

TEST_F(TraceLogTest, ASinkGetsWhatTheFileGets) {
  KeepingSink sink;
  sink_ = &sink;
  Make(TraceFormat::kLines);
  Write();
  EXPECT_THAT(sink.requests, SizeIs(1));
  EXPECT_THAT(Lines(), SizeIs(5));
}

TEST_F(TraceLogTest, ThereMayBeNoFile) {
  KeepingSink sink;
  log_ = std::make_unique<TraceLog>(TraceTarget{.sink = &sink}, TraceSettings(), 7, &clock_,
                                    &metrics_);
  Write();
  Write();
  EXPECT_THAT(sink.requests, SizeIs(2));
  EXPECT_TRUE(log_->Reopen().ok());
}

TEST_F(TraceLogTest, AModelMayHaveSettingsOfItsOwn) {
  Make(TraceFormat::kLines, {true, 4, -1});
  log_->Set("m", {true, 2, 3});
  EXPECT_EQ(log_->settings("m"), (TraceSettings{true, 2, 3}));
  EXPECT_EQ(log_->settings("n"), (TraceSettings{true, 4, -1}));
  EXPECT_EQ(Wanted(100, {}, "m"), 3) << "its count";
  EXPECT_EQ(Wanted(8, {}, "n"), 2) << "nothing was taken off the others'";
  log_->Set("m", log_->settings(""));
  log_->Set("", {true, 1, -1});
  EXPECT_EQ(Wanted(8, {}, "m"), 8) << "they are no longer its own";
}

TEST_F(TraceLogTest, OneModelAloneMayBeTraced) {
  Make(TraceFormat::kLines, {false, 1, -1});
  EXPECT_EQ(Wanted(2), 0);
  log_->Set("m", {true, 1, 2});
  EXPECT_EQ(Wanted(2, {}, "n"), 0);
  EXPECT_EQ(Wanted(4), 2);
  log_->Set("m", {false, 1, -1});
  EXPECT_EQ(Wanted(2, true), 0);
}

TEST_F(TraceLogTest, BytesThatAreNoTextMakeValidLines) {
  Make(TraceFormat::kLines);
  request_.id = "\xff\n\"";
  Write();
  EXPECT_THAT(Lines(), SizeIs(5));
}

TEST_F(TraceLogTest, OneInSoManyUnlessTheCallerDecides) {
  Make(TraceFormat::kLines, {true, 10, -1});
  EXPECT_EQ(Wanted(100), 10);
  EXPECT_EQ(Wanted(7, /*sampled=*/true), 7);
  EXPECT_EQ(Wanted(100, /*sampled=*/false), 0);
  EXPECT_EQ(Wanted(10), 1) << "callers' decisions do not count towards the rate";
}

TEST_F(TraceLogTest, SoManyAndThenNone) {
  Make(TraceFormat::kLines, {true, 1, 3});
  EXPECT_EQ(Wanted(10), 3);
  EXPECT_EQ(Wanted(10, /*sampled=*/true), 0);
  EXPECT_EQ(log_->settings("").count, 0);
  log_->Set("", log_->configured());
  EXPECT_EQ(Wanted(10), 3);
}

TEST_F(TraceLogTest, NoneWhileItIsOff) {
  Make(TraceFormat::kLines, {false, 1, -1});
  EXPECT_EQ(Wanted(10, /*sampled=*/true), 0);
  log_->Set("", {true, 1, -1});
  EXPECT_EQ(Wanted(10), 10);
}

TEST_F(TraceLogTest, TheRequestLogHasALineARequest) {
  request_.id = "17";
  request_.rows = 3;
  request_.arrival_ns = 0;
  request_.batched_ns = 5'000;
  request_.ended_ns = 9'000;
  {
    RequestLog requests(std::make_unique<LogFile>(std::move(write_end_)), &metrics_);
    requests.Write(request_);
    request_.batched_ns = 0;
    requests.Write(request_);
  }
  const std::vector<Json> lines = Lines();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0]["event"], "request");
  EXPECT_EQ(lines[0]["id"], "17");
  EXPECT_EQ(lines[0]["rows"], 3);
  EXPECT_EQ(lines[0]["queue_us"], 5);
  EXPECT_EQ(lines[0]["total_us"], 9);
  EXPECT_EQ(lines[1]["queue_us"], 9) << "it waited to its end";
}

}  // namespace
}  // namespace mpsd
