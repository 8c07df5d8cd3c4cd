// Members that answer wrongly, late or not at all, behind the real admission.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/admit/admission.h"
#include "server/compose/steps/graph_members.h"
#include "server/compose/steps/step_queue.h"
#include "server/request/retry_info.h"
#include "tests/fakes/fake_answer_memory.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/recording_reply_sink.h"
#include "tests/server/admit/message_builder.h"

namespace mpsd {
namespace {

// Has one request at a time, and keeps it until the test ends it.
class MemberQueue final : public RowQueue {
 public:
  explicit MemberQueue(const ModelSpec* spec) : spec_(spec) {}

  absl::Status Reserve(Request* request, RowTargets* targets) override {
    ++asked;
    if (on_reserve) on_reserve();
    if (is_closed) return absl::AbortedError("the model was replaced");
    inside = request;
    request->queue = this;
    targets->later = has_no_room;
    if (!has_no_room) *targets = MakeRows();
    return absl::OkStatus();
  }
  void Commit(Request*) override {}
  void Continue(Request*) override {}
  void Cancel(Request* request) override {
    if (is_past_cancelling || !request->reply.owed()) return;
    request->reply.Fail(ending_when_cancelled);
  }
  void Close() override { is_closed = true; }

  // There is room now for the request that has waited for it.
  void FindRoom() { inside->filler->Fill(*spec_, *inside, MakeRows()); }

  Request* inside = nullptr;
  std::vector<std::string> rows;  // each input's rows
  int asked = 0;
  std::function<void()> on_reserve;
  bool is_closed = false;
  bool has_no_room = false;
  bool is_past_cancelling = false;  // its ending is on its way
  absl::Status ending_when_cancelled = absl::CancelledError("cancelled");

 private:
  RowTargets MakeRows() {
    rows.clear();
    for (const RequestInput& input : inside->inputs) {
      rows.emplace_back(input.Bytes(inside->rows), '?');
    }
    RowTargets targets;
    for (std::string& row : rows) targets.inputs.push_back(row.data());
    return targets;
  }

  const ModelSpec* const spec_;
};

// One output, as a worker writes it.
struct WrittenOutput {
  const char* name;
  DataType datatype;
  Dims dims;
  std::string bytes;
};

WrittenOutput Numbers(const char* name, const std::string& bytes) {
  return {name, DataType::kUint8, {static_cast<int64_t>(bytes.size())}, bytes};
}

const std::string kTwoStrings("\2\0\0\0ab\1\0\0\0c", 11);
WrittenOutput TwoStrings() { return {"s", DataType::kBytes, {2}, kTwoStrings}; }

TensorSpec AnyLength(const char* name, DataType datatype = DataType::kUint8) {
  return {name, datatype, {-1}};
}

// x ─▶ first ─▶ t, s; t ─▶ left ─▶ l; t and s ─▶ right ─▶ r. s is of strings. left takes four
// numbers, the others any count.
class StepAnswersTest : public testing::Test {
 protected:
  StepAnswersTest() {
    Load("first", {AnyLength("i")}, {AnyLength("o"), AnyLength("s", DataType::kBytes)});
    Load("left", {{"i", DataType::kUint8, {4}}}, {AnyLength("o")});
    Load("right", {AnyLength("i"), AnyLength("j", DataType::kBytes)}, {AnyLength("o")});
    LoadWhole();
    models_.stage = ServingStage::kServing;
  }

  // However the members answer.
  void TearDown() override {
    EXPECT_EQ(sink_.endings(), 1);
    EXPECT_EQ(context_.inside, 0);
    EXPECT_EQ(context_.copies.taken_bytes(), 0u);
    EXPECT_EQ(memory_.references, 0);
  }

  std::shared_ptr<ServedModel> NewModel(const char* name, std::vector<TensorSpec> inputs,
                                        std::vector<TensorSpec> outputs) {
    auto model = std::make_shared<ServedModel>();
    model->name = name;
    model->spec.inputs = std::move(inputs);
    model->spec.outputs = std::move(outputs);
    model->loaded = model->ready = true;
    generations_.push_back(model);
    return model;
  }

  // The member, or the generation that replaces it.
  void Load(const char* name, std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs) {
    const auto model = NewModel(name, std::move(inputs), std::move(outputs));
    auto queue = std::make_unique<MemberQueue>(&model->spec);
    queues_[name] = queue.get();
    model->queue = std::move(queue);
    models_.Publish(model);
  }

  void LoadWhole() {
    whole_ = NewModel("whole", {AnyLength("x")},
                      {AnyLength("l"), AnyLength("r"), AnyLength("s", DataType::kBytes)});
    const std::vector<ModelStep> steps = {
        {"first", "", {{"i", "x"}}, {{"o", "t"}, {"s", "s"}}},
        {"left", "", {{"i", "t"}}, {{"o", "l"}}},
        {"right", "", {{"i", "t"}, {"j", "s"}}, {{"o", "r"}}},
    };
    std::vector<StepFault> faults;
    auto queue = std::make_unique<StepQueue>(whole_.get(),
                                             StepGraph::Of("whole", whole_->spec, steps, &faults),
                                             RunBounds{2, 100}, &context_);
    EXPECT_TRUE(faults.empty());
    whole_->members = std::make_unique<GraphMembers>(whole_.get(), &queue->graph(), &models_);
    whole_->queue = std::move(queue);
    models_.Publish(whole_);
  }

  // A client asks for these outputs.
  void Begin(std::initializer_list<const char*> outputs) {
    message_.Raw("x", "UINT8", {2}, 2);
    message_->model = "whole";
    for (const char* output : outputs) message_.Wanted(output);
    request_.arrival_ns = clock_.NowNs();
    request_.deadline_ns = clock_.NowNs() + kNsPerSecond;
    request_.reply = Reply(&sink_);
    ASSERT_EQ(admission_.Handle(*message_, &request_), Handled::kLater) << sink_.status();
  }

  void Answer(const char* member, const std::vector<WrittenOutput>& outputs) {
    mpsd::Answer answer;
    answer.memory = &memory_;
    for (const WrittenOutput& output : outputs) {
      const std::string& bytes = written_.emplace_back(output.bytes);
      answer.outputs.push_back({output.name, output.datatype, output.dims, bytes});
    }
    Of(member).inside->reply.Send(answer);
  }
  void AnswerFirst() { Answer("first", {Numbers("o", "tttt"), TwoStrings()}); }
  void Fail(const char* member, const absl::Status& status) {
    Of(member).inside->reply.Fail(status);
  }
  void Cancel() { whole_->queue->Cancel(&request_); }

  // The workers write to all that they have answered.
  void Overwrite() {
    for (std::string& bytes : written_) bytes.assign(bytes.size(), '\xff');
  }

  MemberQueue& Of(const char* member) { return *queues_.at(member); }
  uint64_t CodeCount(const char* member, absl::StatusCode code) {
    return models_.Find(member)->metrics.requests_by_code[static_cast<size_t>(code)];
  }
  std::vector<std::string> Given() const {
    std::vector<std::string> bytes;
    for (const RecordingReplySink::Output& output : sink_.outputs()) bytes.push_back(output.bytes);
    return bytes;
  }

  ModelDirectory models_;
  FakeClock clock_;
  ServerMetrics metrics_;
  TaskThreads texts_;
  RateTable rates_;
  Admission admission_{&models_, &clock_, &texts_, &rates_, {.bytes = 1'000, .tokens = 100}};
  StepContext context_{&admission_, &models_, &metrics_, &clock_, /*copy_bytes=*/20};
  FakeAnswerMemory memory_;
  std::deque<std::string> written_;  // by workers, in their memory
  std::vector<std::shared_ptr<ServedModel>> generations_;
  std::map<std::string, MemberQueue*> queues_;
  std::shared_ptr<ServedModel> whole_;
  MessageBuilder message_;
  RecordingReplySink sink_;
  Request request_;
};

using Tensors = std::vector<std::string>;

TEST_F(StepAnswersTest, AnAnswerHasWhatALaterStepReads) {
  Begin({"l"});
  EXPECT_DEATH(Answer("first", {TwoStrings()}), "check failed");
  Answer("first", {Numbers("o", "tttt")});
  EXPECT_EQ(Of("left").rows, Tensors{"tttt"});
  Answer("left", {Numbers("o", "ll")});
  EXPECT_EQ(Given(), Tensors{"ll"});
}

TEST_F(StepAnswersTest, TheLastAnswerHasWhatTheClientWants) {
  Begin({"l"});
  AnswerFirst();
  EXPECT_DEATH(Answer("left", {}), "check failed");
  Answer("left", {Numbers("o", "ll")});
  EXPECT_EQ(Given(), Tensors{"ll"});
}

// So no reload makes an answer lack an output.
TEST_F(StepAnswersTest, ASuccessorWithoutTheOutputIsNotAsked) {
  Begin({"l"});
  Load("left", {AnyLength("i")}, {AnyLength("other")});
  AnswerFirst();
  EXPECT_EQ(sink_.status(),
            absl::InvalidArgumentError("in ensemble 'whole', steps[1] (model 'left'): unexpected "
                                       "inference output 'o' for model 'left'"));
  EXPECT_EQ(Of("left").asked, 0);
}

TEST_F(StepAnswersTest, AShapeThatTheNextStepDoesNotTakeEndsTheRequest) {
  Begin({"l", "r"});
  Answer("first", {Numbers("o", "ttt"), TwoStrings()});
  EXPECT_EQ(sink_.status(),
            absl::InvalidArgumentError("in ensemble 'whole', steps[1] (model 'left'): unexpected "
                                       "shape for input 'i' for model 'left'. Expected [4], got "
                                       "[3]."));
  EXPECT_EQ(Of("left").asked, 0);
  EXPECT_EQ(Of("right").asked, 0) << "nothing begins after a fault";
}

TEST_F(StepAnswersTest, StringsAreReadAsTheyWereChecked) {
  Of("right").has_no_room = true;
  Begin({"r", "s"});
  AnswerFirst();
  Overwrite();
  Of("right").FindRoom();
  EXPECT_EQ(Of("right").rows, (Tensors{"\xff\xff\xff\xff", kTwoStrings})) << "numbers may change";
  Answer("right", {Numbers("o", "rr")});
  EXPECT_EQ(Given(), (Tensors{"rr", kTwoStrings}));
}

TEST_F(StepAnswersTest, StringsThatHaveChangedBeforeTheirCopyAreRefused) {
  Begin({"r"});
  WrittenOutput strings = TwoStrings();
  strings.bytes.replace(0, 4, "\xff\xff\xff\xff");
  Answer("first", {Numbers("o", "tttt"), strings});
  EXPECT_EQ(sink_.status(),
            absl::InvalidArgumentError(
                "in ensemble 'whole', steps[2] (model 'right'): incomplete string data for "
                "inference input 'j' for model 'right', expecting string of length 4294967295 but "
                "only 7 bytes available"));
  EXPECT_EQ(Of("right").asked, 0);
}

TEST_F(StepAnswersTest, AnAnswerThatCannotStayIsCopied) {
  memory_.can_pin = false;
  Of("left").has_no_room = Of("right").has_no_room = true;
  Begin({"l", "r"});
  AnswerFirst();
  EXPECT_EQ(memory_.references, 0);
  EXPECT_EQ(context_.copies.taken_bytes(), 4 + kTwoStrings.size()) << "once for all readers";
  Overwrite();
  Of("left").FindRoom();
  EXPECT_EQ(Of("left").rows, Tensors{"tttt"});
  Answer("left", {Numbers("o", "ll")});
  EXPECT_EQ(context_.copies.taken_bytes(), 2 + 4 + kTwoStrings.size());
  Overwrite();
  Of("right").FindRoom();
  EXPECT_EQ(Of("right").rows, (Tensors{"tttt", kTwoStrings}));
  Answer("right", {Numbers("o", "rr")});
  EXPECT_EQ(Given(), (Tensors{"ll", "rr"}));
}

TEST_F(StepAnswersTest, NoRoomForACopyIsToldWithATimeToReturn) {
  memory_.can_pin = false;
  Begin({"l", "r"});
  Answer("first", {Numbers("o", std::string(12, 't')), TwoStrings()});
  EXPECT_EQ(sink_.status(), Busy("in ensemble 'whole', steps[0] (model 'first'): too many bytes "
                                 "are on their way between steps"));
  EXPECT_EQ(Of("left").asked, 0);
}

TEST_F(StepAnswersTest, NoRoomForACopyEndsTheOtherSteps) {
  memory_.can_pin = false;
  Begin({"l", "r"});
  AnswerFirst();
  Answer("left", {Numbers("o", std::string(21, 'l'))});
  EXPECT_EQ(sink_.status(), Busy("in ensemble 'whole', steps[1] (model 'left'): too many bytes "
                                 "are on their way between steps"));
  EXPECT_EQ(CodeCount("left", absl::StatusCode::kOk), 1u) << "the member did its part";
  EXPECT_EQ(CodeCount("right", absl::StatusCode::kCancelled), 1u);
}

TEST_F(StepAnswersTest, OfTwoFaultsAtOnceTheFirstCounts) {
  Of("right").ending_when_cancelled = absl::UnavailableError("right broke");
  Begin({"l", "r"});
  AnswerFirst();
  Fail("left", absl::InternalError("left broke"));
  EXPECT_EQ(sink_.status(),
            absl::InternalError("in ensemble 'whole', steps[1] (model 'left'): left broke"));
  EXPECT_EQ(CodeCount("right", absl::StatusCode::kUnavailable), 1u);
}

TEST_F(StepAnswersTest, ASecondFaultThatIsOnItsWayIsAwaited) {
  Of("left").is_past_cancelling = true;
  Begin({"l", "r"});
  AnswerFirst();
  Fail("right", absl::InternalError("right broke"));
  EXPECT_EQ(sink_.endings(), 0) << "left may read the client's message";
  Fail("left", absl::UnavailableError("left broke"));
  EXPECT_EQ(sink_.status(),
            absl::InternalError("in ensemble 'whole', steps[2] (model 'right'): right broke"));
}

TEST_F(StepAnswersTest, AnAnswerAfterTheFaultOfAnotherStepIsDropped) {
  Of("left").is_past_cancelling = true;
  Begin({"l", "r"});
  AnswerFirst();
  Fail("right", absl::InternalError("right broke"));
  Answer("left", {Numbers("o", "ll")});
  EXPECT_TRUE(absl::IsInternal(sink_.status())) << sink_.status();
}

TEST_F(StepAnswersTest, ACancellationWhileAStepAnswers) {
  memory_.on_pin = [this] { Cancel(); };
  Begin({"l"});
  AnswerFirst();
  EXPECT_EQ(sink_.status(), absl::CancelledError("Request was cancelled"));
  EXPECT_EQ(Of("left").asked, 0);
  EXPECT_EQ(CodeCount("first", absl::StatusCode::kOk), 1u);
}

TEST_F(StepAnswersTest, TheLastAnswerAfterTheCancellationIsDropped) {
  Of("left").is_past_cancelling = true;
  Begin({"l"});
  AnswerFirst();
  Cancel();
  EXPECT_EQ(sink_.endings(), 0) << "left is still open";
  Answer("left", {Numbers("o", "ll")});
  EXPECT_EQ(sink_.status(), absl::CancelledError("Request was cancelled"));
}

TEST_F(StepAnswersTest, AMemberThatIsReplacedBetweenTwoSteps) {
  MemberQueue& old = Of("left");
  old.on_reserve = [&] {
    old.Close();
    Load("left", {AnyLength("i")}, {AnyLength("o")});
  };
  Begin({"l"});
  AnswerFirst();
  EXPECT_EQ(old.asked, 1);
  EXPECT_EQ(Of("left").rows, Tensors{"tttt"});
  Answer("left", {Numbers("o", "ll")});
  EXPECT_EQ(Given(), Tensors{"ll"});
}

TEST_F(StepAnswersTest, AMemberThatIsReplacedWithoutEnd) {
  Begin({"l"});
  Of("left").Close();
  AnswerFirst();
  EXPECT_EQ(sink_.status(), absl::UnavailableError("in ensemble 'whole', steps[1] (model 'left'): "
                                                   "the model was replaced"));
  EXPECT_EQ(Of("left").asked, 3);
}

TEST_F(StepAnswersTest, ADeadlineThatPassesBetweenTwoSteps) {
  Begin({"l", "r"});
  clock_.Advance(kNsPerSecond);
  AnswerFirst();
  EXPECT_EQ(sink_.status(),
            absl::DeadlineExceededError("in ensemble 'whole', steps[1] (model 'left'): Request "
                                        "timeout expired"));
  EXPECT_EQ(Of("left").asked, 0);
  EXPECT_EQ(Of("right").asked, 0);
}

}  // namespace
}  // namespace mpsd
