#include "server/compose/steps/step_queue.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "proto/base/clock.h"
#include "proto/base/fd.h"
#include "server/compose/steps/graph_members.h"
#include "server/telemetry/log/trace_log.h"
#include "tests/fakes/fake_answer_memory.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/recording_reply_sink.h"

namespace mpsd {
namespace {

// Ends what is cancelled, as a pool does.
class FakeMemberQueue final : public RequestQueue {
 public:
  absl::Status Reserve(Request*, RowTargets*) override { return absl::AbortedError("closed"); }
  void Close() override {}
  void Cancel(Request* request) override {
    if (request->reply.owed()) request->reply.Fail(absl::CancelledError("cancelled"));
  }
};

// Admits the requests of steps, and keeps them until the test ends them.
class FakeAdmission final : public InferHandler {
 public:
  explicit FakeAdmission(const ModelDirectory* models) : models_(models) {}

  Handled Handle(const InferMessage& message, Request* request) override {
    const std::string name(message.model);
    Taken& taken = taken_[name];
    ++taken.count;
    taken.message = &message;
    taken.request = request;
    EXPECT_TRUE(request->is_step);
    request->model = models_->Find(name);
    request->metrics = &request->model->metrics;
    if (awaits_texts == name) return Handled::kAwaitsTexts;
    if (refused == name) {
      request->reply.Fail(absl::InvalidArgumentError("no"));
      return Handled::kCopied;
    }
    for (const InputMessage& input : message.inputs) {
      std::string bytes;
      for (const absl::string_view piece : input.payload.pieces) bytes += std::string(piece);
      taken.inputs.push_back(std::string(input.name) + "=" + bytes);
    }
    request->queue = &queue_;
    return waits == name ? Handled::kLater : Handled::kCopied;
  }
  void EncodeTexts(const InferMessage&, Request*, TextWaiter* waiter) override { texts = waiter; }

  bool Has(const std::string& model) const { return taken_.contains(model); }
  int Count(const std::string& model) { return taken_[model].count; }
  Request* Of(const std::string& model) { return taken_.at(model).request; }
  std::vector<std::string> InputsOf(const std::string& model) { return taken_.at(model).inputs; }
  const InferMessage& MessageOf(const std::string& model) { return *taken_.at(model).message; }

  std::string refused;
  std::string waits;  // for memory
  std::string awaits_texts;
  TextWaiter* texts = nullptr;

 private:
  struct Taken {
    int count = 0;
    const InferMessage* message = nullptr;
    Request* request = nullptr;
    std::vector<std::string> inputs;
  };

  const ModelDirectory* const models_;
  std::map<std::string, Taken> taken_;
  FakeMemberQueue queue_;
};

class NoAnswers final : public AnswerCache {
 public:
  bool TryAnswer(Request*) override { return false; }
  void Keep(const Request&, const Answer&) override {}
};

TensorSpec Text(const char* name) { return {name, DataType::kUint8, {-1}}; }

// x ─▶ first ─▶ t ─▶ left ─▶ l, right ─▶ r; join of l and r ─▶ y.
class StepQueueTest : public testing::Test {
 protected:
  StepQueueTest() {
    for (const char* name : {"first", "left", "right", "join"}) AddMember(name);
    whole_->name = "whole";
    whole_->spec.inputs = {Text("x")};
    whole_->spec.outputs = {Text("y"), Text("l")};
    const std::vector<ModelStep> steps = {{"first", "", {{"i", "x"}}, {{"o", "t"}}},
                                          {"left", "", {{"i", "t"}}, {{"o", "l"}}},
                                          {"right", "", {{"i", "t"}}, {{"o", "r"}}},
                                          {"join", "", {{"i", "l"}, {"j", "r"}}, {{"o", "y"}}}};
    std::vector<StepFault> faults;
    auto queue = std::make_unique<StepQueue>(whole_.get(),
                                             StepGraph::Of("whole", whole_->spec, steps, &faults),
                                             RunBounds{2, 100}, &context_);
    EXPECT_TRUE(faults.empty());
    whole_->members = std::make_unique<GraphMembers>(whole_.get(), &queue->graph(), &models_);
    whole_->queue = std::move(queue);
    payload_.Append("xx");
    Fill(&request_, &sink_);
  }
  ~StepQueueTest() override {
    EXPECT_EQ(context_.inside, 0);
    EXPECT_EQ(context_.copies.taken_bytes(), 0u);
    EXPECT_EQ(memory_.references, 0);
  }

  void AddMember(const char* name) {
    auto model = std::make_shared<ServedModel>();
    model->name = name;
    model->spec.inputs = {Text("i")};
    if (model->name == "join") model->spec.inputs.push_back(Text("j"));
    model->spec.outputs = {Text("o")};
    model->loaded = model->ready = true;
    models_.Publish(std::move(model));
  }

  // A request for y.
  void Fill(Request* request, ReplySink* sink) {
    request->model = whole_;
    request->metrics = &whole_->metrics;
    request->arrival_ns = clock_.NowNs();
    request->deadline_ns = clock_.NowNs() + 7 * kNsPerSecond;
    request->tenant = 3;
    request->priority = 2;
    RequestInput& input = request->inputs.emplace_back();
    input.datatype = DataType::kUint8;
    input.dims = {2};
    input.payload = &payload_;
    request->wanted_outputs = {0};
    request->reply = Reply(sink);
  }

  absl::Status Reserve(Request* request) {
    RowTargets targets;
    const absl::Status status = whole_->queue->Reserve(request, &targets);
    EXPECT_EQ(targets.later, status.ok());
    return status;
  }
  void Begin() { ASSERT_EQ(Reserve(&request_), absl::OkStatus()); }

  // The member's request is answered, and the bytes are gone afterwards.
  void Answer(const std::string& model, const std::string& text) {
    auto bytes = std::make_unique<std::string>(text);
    mpsd::Answer answer;
    answer.memory = &memory_;
    for (const absl::string_view name : admission_.MessageOf(model).outputs) {
      AnswerOutput& output = answer.outputs.emplace_back();
      output.name = name;
      output.datatype = DataType::kUint8;
      output.dims = {static_cast<int64_t>(text.size())};
      output.bytes = *bytes;
    }
    leases_.push_back(std::move(bytes));
    Request* const request = admission_.Of(model);
    request->is_answered = true;
    request->reply.Send(answer);
  }
  void Fail(const std::string& model, const absl::Status& status) {
    admission_.Of(model)->reply.Fail(status);
  }
  uint64_t CodeCount(const std::string& model, absl::StatusCode code) {
    return models_.Find(model)->metrics.requests_by_code[static_cast<size_t>(code)];
  }

  ModelDirectory models_;
  FakeClock clock_;
  ServerMetrics metrics_;
  FakeAdmission admission_{&models_};
  StepContext context_{&admission_, &models_, &metrics_, &clock_, 10};
  FakeAnswerMemory memory_;
  std::vector<std::unique_ptr<std::string>> leases_;  // the answers' bytes
  const std::shared_ptr<ServedModel> whole_ = std::make_shared<ServedModel>();
  Payload payload_;
  RecordingReplySink sink_;
  Request request_;
};

TEST_F(StepQueueTest, StepsRunAsSoonAsTheirTensorsAreThere) {
  Begin();
  EXPECT_EQ(admission_.InputsOf("first"), std::vector<std::string>{"i=xx"});
  EXPECT_FALSE(admission_.Has("left"));
  Answer("first", "tt");
  EXPECT_EQ(admission_.InputsOf("left"), std::vector<std::string>{"i=tt"});
  EXPECT_EQ(admission_.InputsOf("right"), std::vector<std::string>{"i=tt"}) << "at once";
  Answer("right", "rr");
  EXPECT_FALSE(admission_.Has("join"));
  Answer("left", "ll");
  EXPECT_EQ(admission_.InputsOf("join"), (std::vector<std::string>{"i=ll", "j=rr"}));
  EXPECT_EQ(sink_.endings(), 0);
  Answer("join", "yyy");
  ASSERT_EQ(sink_.endings(), 1);
  ASSERT_EQ(sink_.outputs().size(), 1u);
  EXPECT_EQ(sink_.outputs()[0].name, "y");
  EXPECT_EQ(sink_.outputs()[0].bytes, "yyy");
  EXPECT_EQ(sink_.outputs()[0].dims, Dims{3});
}

TEST_F(StepQueueTest, AStepIsTheCallersRequest) {
  Begin();
  const Request& step = *admission_.Of("first");
  EXPECT_EQ(step.tenant, 3u);
  EXPECT_EQ(step.deadline_ns, request_.deadline_ns);
  EXPECT_EQ(admission_.MessageOf("first").priority, 2u);
  Fail("first", absl::InternalError("x"));
}

TEST_F(StepQueueTest, AStepKnowsWhetherTheClientGaveTheDeadline) {
  request_.patience_ns = 7 * kNsPerSecond;
  Begin();
  EXPECT_EQ(admission_.Of("first")->patience_ns, 7 * kNsPerSecond);
  Fail("first", absl::InternalError("x"));
}

TEST_F(StepQueueTest, ATensorLeavesTheWorkersMemoryWithItsLastReader) {
  admission_.waits = "right";
  Begin();
  Answer("first", "tt");
  EXPECT_EQ(memory_.references, 1) << "right has not copied it";
  EXPECT_TRUE(admission_.Of("right")->inputs_may_change);
  Answer("right", "rr");
  EXPECT_EQ(memory_.references, 1) << "of r, which left has to join";
  Answer("left", "ll");
  EXPECT_EQ(memory_.references, 0);
  Answer("join", "y");
}

// No answer may be kept to a tensor that a worker may still write to.
TEST_F(StepQueueTest, AMemberWithACacheReadsWhatNobodyChanges) {
  models_.Find("left")->cache = std::make_unique<NoAnswers>();
  admission_.waits = "left";
  Begin();
  Answer("first", "tt");
  EXPECT_EQ(memory_.references, 0) << "t is a copy";
  EXPECT_EQ(context_.copies.taken_bytes(), 2u);
  EXPECT_FALSE(admission_.Of("left")->inputs_may_change);
  *leases_.back() = "!!";
  EXPECT_EQ(admission_.MessageOf("left").inputs[0].payload.pieces[0], "tt");
  Answer("right", "rr");
  EXPECT_EQ(memory_.references, 1) << "r, which is read by a member without one";
  Answer("left", "ll");
  Answer("join", "y");
}

TEST_F(StepQueueTest, AnEarlierTensorIsAnOutputToo) {
  request_.wanted_outputs = {1, 0};
  Begin();
  Answer("first", "tt");
  Answer("left", "ll");
  Answer("right", "rr");
  Answer("join", "yy");
  ASSERT_EQ(sink_.outputs().size(), 2u);
  EXPECT_EQ(sink_.outputs()[0].bytes, "ll");
  EXPECT_EQ(sink_.outputs()[1].bytes, "yy");
}

TEST_F(StepQueueTest, StepsThatNobodyNeedsDoNotRun) {
  request_.wanted_outputs = {1};
  Begin();
  Answer("first", "tt");
  EXPECT_FALSE(admission_.Has("right"));
  Answer("left", "ll");
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.outputs()[0].bytes, "ll");
}

TEST_F(StepQueueTest, TheLastStepsAnswerGoesOutFromItsMemory) {
  Begin();
  Answer("first", "tt");
  Answer("left", "ll");
  Answer("right", "rr");
  Answer("join", "yy");
  EXPECT_EQ(sink_.view(0).data(), leases_.back()->data());
}

TEST_F(StepQueueTest, AFaultEndsTheCallOnceAllStepsHaveEnded) {
  Begin();
  Answer("first", "tt");
  Fail("left", absl::InternalError("broke"));
  ASSERT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.status(),
            absl::InternalError("in ensemble 'whole', steps[1] (model 'left'): broke"));
  EXPECT_EQ(CodeCount("right", absl::StatusCode::kCancelled), 1u) << "it was cancelled";
  EXPECT_FALSE(admission_.Has("join"));
}

TEST_F(StepQueueTest, AFaultBeforeTheQueue) {
  admission_.refused = "right";
  Begin();
  Answer("first", "tt");
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.status(),
            absl::InvalidArgumentError("in ensemble 'whole', steps[2] (model 'right'): no"));
  EXPECT_EQ(CodeCount("left", absl::StatusCode::kCancelled), 1u);
}

TEST_F(StepQueueTest, AFirstStepThatIsRefusedAtOnce) {
  admission_.refused = "first";
  Begin();
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(sink_.status()));
}

TEST_F(StepQueueTest, ACancellationEndsTheSteps) {
  Begin();
  Answer("first", "tt");
  whole_->queue->Cancel(&request_);
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.status(), absl::CancelledError("Request was cancelled"));
  EXPECT_EQ(CodeCount("left", absl::StatusCode::kCancelled), 1u);
  EXPECT_EQ(CodeCount("right", absl::StatusCode::kCancelled), 1u);
  whole_->queue->Cancel(&request_);  // it has ended
  EXPECT_EQ(sink_.endings(), 1);
}

TEST_F(StepQueueTest, LongTextsOfAStepAreEncodedElsewhere) {
  admission_.awaits_texts = "first";
  Begin();
  ASSERT_NE(admission_.texts, nullptr);
  EXPECT_TRUE(admission_.texts->GoOn().ok());
  admission_.awaits_texts.clear();
  admission_.texts->TextsDone(absl::OkStatus());
  EXPECT_EQ(admission_.Count("first"), 2);
  Fail("first", absl::InternalError("x"));
  EXPECT_EQ(sink_.endings(), 1);
}

TEST_F(StepQueueTest, ACancellationWhileTextsAreEncoded) {
  admission_.awaits_texts = "first";
  Begin();
  whole_->queue->Cancel(&request_);
  EXPECT_EQ(sink_.endings(), 0) << "the texts are still being read";
  const absl::Status given_up = admission_.texts->GoOn();
  EXPECT_TRUE(absl::IsCancelled(given_up));
  admission_.texts->TextsDone(given_up);
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_TRUE(absl::IsCancelled(sink_.status()));
}

TEST_F(StepQueueTest, NoTextsAreEncodedAfterTheDeadline) {
  admission_.awaits_texts = "first";
  Begin();
  clock_.Advance(8 * kNsPerSecond);
  EXPECT_TRUE(absl::IsDeadlineExceeded(admission_.texts->GoOn()));
  admission_.texts->TextsDone(admission_.texts->GoOn());
  EXPECT_EQ(sink_.endings(), 1);
}

TEST_F(StepQueueTest, CopiesAreBounded) {
  memory_.can_pin = false;
  Begin();
  Answer("first", std::string(11, 't'));
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_TRUE(absl::IsResourceExhausted(sink_.status())) << sink_.status();
  EXPECT_EQ(CodeCount("first", absl::StatusCode::kOk), 1u) << "the member did its part";
}

TEST_F(StepQueueTest, WhatIsInsideIsBounded) {
  RecordingReplySink sinks[2];
  Request others[2];
  for (int i = 0; i < 2; ++i) Fill(&others[i], &sinks[i]);
  Begin();
  Request* const first = admission_.Of("first");
  ASSERT_EQ(Reserve(&others[0]), absl::OkStatus());
  const absl::Status full = Reserve(&others[1]);
  EXPECT_TRUE(absl::IsResourceExhausted(full));
  EXPECT_EQ(full.message(), "Exceeds maximum queue size");
  others[1].reply.Fail(full);
  Fail("first", absl::InternalError("x"));
  first->reply.Fail(absl::InternalError("x"));
  EXPECT_EQ(sinks[0].endings() + sink_.endings(), 2);
}

TEST_F(StepQueueTest, BytesInsideAreBounded) {
  payload_.Append(std::string(99, 'x'));
  const absl::Status full = Reserve(&request_);
  EXPECT_TRUE(absl::IsResourceExhausted(full));
  request_.reply.Fail(full);
}

TEST_F(StepQueueTest, AClosedQueueSendsToItsSuccessor) {
  Begin();
  whole_->queue->Close();
  Request other;
  RecordingReplySink sink;
  Fill(&other, &sink);
  EXPECT_TRUE(absl::IsAborted(Reserve(&other)));
  other.reply.Fail(absl::UnavailableError(""));
  Answer("first", "tt");
  EXPECT_TRUE(admission_.Has("left")) << "what is inside goes on";
  whole_->queue->Cancel(&request_);
}

TEST_F(StepQueueTest, AMissingMemberIsToldBeforeAnyStepRuns) {
  models_.Withdraw(*models_.Find("join"));
  const absl::Status status = Reserve(&request_);
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_FALSE(admission_.Has("first"));
  request_.reply.Fail(status);
}

TEST_F(StepQueueTest, AStepIsNoModelOfSteps) {
  request_.is_step = true;
  const absl::Status status = Reserve(&request_);
  EXPECT_TRUE(absl::IsUnavailable(status));
  request_.reply.Fail(status);
}

TEST_F(StepQueueTest, NoStepBeginsOnceTheDaemonEnds) {
  Begin();
  context_.closed = true;
  Answer("first", "tt");
  EXPECT_EQ(sink_.endings(), 1);
  EXPECT_EQ(sink_.status(), absl::UnavailableError("Server exiting"));
  EXPECT_FALSE(admission_.Has("left"));
}

TEST_F(StepQueueTest, ARequestIsCountedOnceAndItsStepsOnceEach) {
  Begin();
  clock_.Advance(kNsPerSecond);
  Answer("first", "tt");
  Answer("left", "ll");
  Answer("right", "rr");
  Answer("join", "yy");
  const InferenceStatistics::Totals totals = whole_->metrics.inference.Read();
  EXPECT_EQ(totals.success.count, 1u);
  EXPECT_EQ(totals.success.ns, static_cast<uint64_t>(kNsPerSecond));
  EXPECT_EQ(totals.inference_count, 1u);
  EXPECT_EQ(totals.execution_count, 1u);
  EXPECT_TRUE(request_.is_answered);
  for (const char* name : {"first", "left", "right", "join"}) {
    EXPECT_EQ(CodeCount(name, absl::StatusCode::kOk), 1u) << name;
  }
}

// With a log of traces, which is a pipe.
class StepSpansTest : public StepQueueTest {
 protected:
  using Json = nlohmann::json;

  StepSpansTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    reader_.Reset(ends[0]);
    traces_ = std::make_unique<TraceLog>(TraceTarget{std::make_unique<LogFile>(UniqueFd(ends[1]))},
                                         TraceSettings(), 7, &clock_, &metrics_);
    context_.observers.traces = traces_.get();
  }

  void Trace() { request_.span = std::make_unique<RequestSpan>(traces_->Begin("", "")); }

  // All spans, in the order in which they were written. Ends the log.
  std::vector<Json> Spans() {
    traces_.reset();
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(reader_.get(), buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<size_t>(n));
    }
    std::vector<Json> spans;
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      spans.push_back(Json::parse(line.begin(), line.end(), nullptr, false));
      EXPECT_EQ(spans.back()["trace_id"], request_.span->trace_id);
      EXPECT_EQ(spans.back()["parent_id"], request_.span->id);
    }
    return spans;
  }

  UniqueFd reader_;
  std::unique_ptr<TraceLog> traces_;
};

TEST_F(StepSpansTest, EachStepHasASpanBelowItsWhole) {
  Trace();
  Begin();
  Answer("first", "tt");
  Answer("right", "rr");
  Answer("left", "ll");
  Answer("join", "yy");
  const std::vector<Json> spans = Spans();
  const char* const names[] = {"steps[0] first", "steps[2] right", "steps[1] left",
                               "steps[3] join"};
  ASSERT_EQ(spans.size(), std::size(names));
  for (size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ(spans[i]["name"], names[i]);
    EXPECT_EQ(spans[i]["code"], "OK");
  }
  EXPECT_EQ(spans[2]["model"], "left");
}

TEST_F(StepSpansTest, AStepThatDidNotEndWellHasItsCode) {
  Trace();
  Begin();
  Answer("first", "tt");
  Fail("left", absl::InternalError("broke"));
  const std::vector<Json> spans = Spans();
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[1]["name"], "steps[1] left");
  EXPECT_EQ(spans[1]["code"], "INTERNAL");
  EXPECT_EQ(spans[2]["name"], "steps[2] right");
  EXPECT_EQ(spans[2]["code"], "CANCELLED");
}

TEST_F(StepSpansTest, StepsOfAnUntracedRequestHaveNone) {
  Begin();
  EXPECT_EQ(admission_.Of("first")->span, nullptr);
  Fail("first", absl::InternalError("x"));
  EXPECT_TRUE(Spans().empty());
}

}  // namespace
}  // namespace mpsd
