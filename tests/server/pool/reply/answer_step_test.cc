#include "server/pool/reply/answer_step.h"

#include <gmock/gmock.h>

#include <cstring>
#include <deque>
#include <numeric>

#include "server/request/served_model.h"
#include "tests/fakes/fake_answer_memory.h"
#include "tests/fakes/fake_call.h"
#include "tests/fakes/fake_clock.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Batches of a model with outputs X FP32[2] and Y FP32[-1, 2], whose elements count from 0.
class AnswerStepTest : public testing::Test {
 protected:
  AnswerStepTest() {
    spec_.max_batch_size = 8;
    spec_.inputs = {{"IN", DataType::kFp32, {-1}}};
    spec_.outputs = {{"X", DataType::kFp32, {2}}, {"Y", DataType::kFp32, {-1, 2}}};
    batch_.spec = &spec_;
    batch_.metrics = &metrics_;
    batch_.memory = &memory_;
    batch_.batched_ns = clock_.NowNs() - 300;
    batch_.started_ns = clock_.NowNs() - 200;
    batch_.finished_ns = clock_.NowNs() - 100;
  }

  // A request of `rows` rows of this length, the next of the batch.
  FakeCall* Add(uint32_t rows, int64_t length = 2) {
    FakeCall& call = calls_.emplace_back(/*keep_memory=*/true);
    call.Describe(rows, {length}, clock_.NowNs() - 400, kNsPerSecond);
    batch_.entries.push_back({&call.request, batch_.row_count, rows, {}});
    batch_.row_count += rows;
    return &call;
  }

  // Both outputs, Y of `length` a row.
  void Output(int64_t length = 3) {
    AddOutput({batch_.row_count, 2});
    AddOutput({batch_.row_count, length, 2});
    batch_.row_failed.assign(batch_.row_count, 0);
  }

  // The batch completes with both.
  void Complete(int64_t length = 3) {
    Output(length);
    step_.Complete(batch_);
  }

  void AddOutput(Dims dims) {
    std::vector<float>& elements = bytes_.emplace_back(*ElementCount(dims));
    std::iota(elements.begin(), elements.end(), 0.0f);
    const auto* bytes = reinterpret_cast<const char*>(elements.data());
    batch_.outputs.push_back({DataType::kFp32, dims, {bytes, elements.size() * sizeof(float)}});
  }

  static std::vector<float> Elements(const FakeCall& call, size_t output) {
    const std::string& bytes = call.sink.outputs().at(output).bytes;
    std::vector<float> elements(bytes.size() / sizeof(float));
    std::memcpy(elements.data(), bytes.data(), bytes.size());
    return elements;
  }

  FakeClock clock_;
  ModelSpec spec_;
  ModelMetrics metrics_;
  FakeAnswerMemory memory_;
  std::deque<std::vector<float>> bytes_;
  std::deque<FakeCall> calls_;
  CompletedBatch batch_;
  AnswerStep step_{&clock_};
};

TEST_F(AnswerStepTest, EachRequestGetsItsRows) {
  FakeCall* first = Add(1);
  FakeCall* second = Add(2);
  Complete();
  EXPECT_THAT(Elements(*first, 0), ElementsAre(0, 1));
  EXPECT_EQ(first->sink.outputs()[0].dims, (Dims{1, 2}));
  EXPECT_THAT(Elements(*second, 0), ElementsAre(2, 3, 4, 5));
  EXPECT_EQ(second->sink.outputs()[0].dims, (Dims{2, 2}));
  EXPECT_EQ(second->sink.outputs()[0].datatype, DataType::kFp32);
}

TEST_F(AnswerStepTest, RowsAreNotCopied) {
  Add(1);
  FakeCall* second = Add(1);
  Complete();
  EXPECT_EQ(second->sink.view(0).data(), batch_.outputs[0].bytes.data() + 8);
  EXPECT_EQ(second->sink.memory(), &memory_);
}

// Remembers which requests' answers were to be kept.
class FakeCache final : public AnswerCache {
 public:
  bool TryAnswer(Request*) override { return false; }
  void Keep(const Request& request, const Answer& answer) override {
    kept.push_back(&request);
    EXPECT_TRUE(request.reply.owed());
    EXPECT_EQ(answer.outputs.size(), 2u);
  }

  std::vector<const Request*> kept;
};

// A model that keeps the answers to requests that were looked for.
class KeepingAnswerStepTest : public AnswerStepTest {
 protected:
  FakeCall* AddKept() {
    FakeCall* call = Add(1);
    call->request.model = model_;
    call->request.cache_key = ContentKey();
    call->request.wanted_outputs = {0, 1};
    return call;
  }

  std::shared_ptr<ServedModel> model_ = std::make_shared<ServedModel>();
  FakeCache& cache_ = static_cast<FakeCache&>(*(model_->cache = std::make_unique<FakeCache>()));
};

TEST_F(KeepingAnswerStepTest, KeepsWhatWasLookedForBeforeItIsGiven) {
  FakeCall* call = AddKept();
  FakeCall* other = Add(1);
  other->request.model = model_;
  Complete();
  EXPECT_THAT(cache_.kept, ElementsAre(&call->request));
  EXPECT_EQ(call->endings(), 1);
  EXPECT_EQ(other->endings(), 1);
}

TEST_F(KeepingAnswerStepTest, FailuresAreNotKept) {
  AddKept();
  AddKept();
  Output();
  batch_.row_failed[0] = 1;
  step_.Complete(batch_);
  EXPECT_THAT(cache_.kept, ElementsAre(&calls_[1].request));
  batch_ = CompletedBatch();
  batch_.spec = &spec_;
  batch_.metrics = &metrics_;
  calls_.clear();
  AddKept();
  batch_.failure = absl::InternalError("no");
  step_.Complete(batch_);
  EXPECT_THAT(cache_.kept, SizeIs(1));
}

TEST_F(AnswerStepTest, OutputsComeInTheOrderInWhichTheyWereAskedFor) {
  FakeCall* call = Add(1);
  call->request.wanted_outputs = {1, 0};
  Complete();
  ASSERT_THAT(call->sink.outputs(), SizeIs(2));
  EXPECT_EQ(call->sink.outputs()[0].name, "Y");
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{1, 3, 2}));
  EXPECT_EQ(call->sink.outputs()[1].name, "X");
}

TEST_F(AnswerStepTest, AModelWithoutBatchesGivesTheWholeOutput) {
  spec_.max_batch_size = 0;
  FakeCall* call = Add(1);
  AddOutput({2});
  AddOutput({3, 2});
  batch_.row_failed = {0};
  step_.Complete(batch_);
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{2}));
  EXPECT_THAT(Elements(*call, 0), ElementsAre(0, 1));
}

TEST_F(AnswerStepTest, AFailedRowFailsItsRequestAlone) {
  FakeCall* first = Add(1);
  FakeCall* second = Add(2);
  FakeCall* third = Add(1);
  Output();
  batch_.row_failed = {0, 0, 1, 0};
  batch_.row_failure_text = "PyTorch execute failure: no";
  step_.Complete(batch_);
  EXPECT_TRUE(first->status().ok());
  EXPECT_EQ(second->status(), absl::InternalError("PyTorch execute failure: no"));
  EXPECT_THAT(second->sink.outputs(), SizeIs(0));
  EXPECT_THAT(Elements(*third, 0), ElementsAre(6, 7));
}

TEST_F(AnswerStepTest, AFailedBatchFailsAllOfIt) {
  Add(1);
  Add(1);
  batch_.failure = absl::InternalError("PyTorch execute failure: no");
  batch_.row_failed.assign(2, 0);
  step_.Complete(batch_);
  for (const FakeCall& call : calls_) EXPECT_EQ(call.status(), batch_.failure);
}

TEST_F(AnswerStepTest, WhoEndedBeforeGetsNothing) {
  Add(1);
  FakeCall* second = Add(1);
  Output();
  batch_.entries[0].request = nullptr;
  step_.Complete(batch_);
  EXPECT_EQ(calls_[0].endings(), 0);
  EXPECT_THAT(Elements(*second, 0), ElementsAre(2, 3));
  calls_[0].request.reply.Fail(absl::OkStatus());
}

TEST_F(AnswerStepTest, CountsTheBatchAndItsStages) {
  Add(1);
  Add(2);
  Complete();
  EXPECT_EQ(metrics_.batches, 1u);
  EXPECT_EQ(metrics_.batch_rows.ReadRows().sum, 3);
  EXPECT_DOUBLE_EQ(metrics_.queue.ReadSeconds().sum, 200e-9);
  EXPECT_DOUBLE_EQ(metrics_.dispatch.ReadSeconds().sum, 200e-9);
  EXPECT_DOUBLE_EQ(metrics_.execute.ReadSeconds().sum, 200e-9);
  EXPECT_DOUBLE_EQ(metrics_.respond.ReadSeconds().sum, 200e-9);
}

TEST_F(AnswerStepTest, CountsTheTokensOfABatchThatHasThem) {
  Add(1);
  Output();
  batch_.computed_tokens = 48;
  batch_.padding_tokens = 6;
  step_.Complete(batch_);
  EXPECT_EQ(metrics_.batch_tokens.ReadTokens().sum, 48);
  EXPECT_EQ(metrics_.padding_tokens, 6u);
}

TEST_F(AnswerStepTest, ABatchWithoutTokensIsNoneOfThoseWithSome) {
  Add(1);
  Complete();
  EXPECT_EQ(metrics_.batch_tokens.ReadTokens().counts, TokenHistogram::Snapshot().counts);
}

TEST_F(AnswerStepTest, ABatchWithoutEntriesIsNone) {
  step_.Complete(batch_);
  EXPECT_EQ(metrics_.batches, 0u);
}

// ---- padding, cut back ----

TEST_F(AnswerStepTest, APaddedDimIsCutBackToTheRequestsOwnLength) {
  spec_.pad = {{"IN", 0, {3}, 0, {{"Y", 0}}}};
  FakeCall* one = Add(1, 1);
  FakeCall* whole = Add(1, 3);
  FakeCall* rows = Add(2, 2);
  for (FakeCall& call : calls_) call.request.wanted_outputs = {1};
  Complete(3);
  EXPECT_EQ(one->sink.outputs()[0].dims, (Dims{1, 1, 2}));
  EXPECT_THAT(Elements(*one, 0), ElementsAre(0, 1));
  EXPECT_EQ(one->sink.memory(), nullptr) << "the cut lies elsewhere and must be copied";
  EXPECT_EQ(whole->sink.outputs()[0].dims, (Dims{1, 3, 2}));
  EXPECT_THAT(Elements(*whole, 0), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_EQ(whole->sink.memory(), &memory_);
  EXPECT_EQ(rows->sink.outputs()[0].dims, (Dims{2, 2, 2}));
  EXPECT_THAT(Elements(*rows, 0), ElementsAre(12, 13, 14, 15, 18, 19, 20, 21));
}

TEST_F(AnswerStepTest, AnOutputWithoutTheDimIsLeftAlone) {
  spec_.pad = {{"IN", 0, {3}, 0, {{"Y", 0}}}};
  FakeCall* call = Add(1, 1);
  Complete(3);
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{1, 2}));
}

TEST_F(AnswerStepTest, TwoDimsOfOneOutputAreCut) {
  spec_.outputs[1].dims = {-1, -1};
  spec_.pad = {{"IN", 0, {3}, 0, {{"Y", 0}, {"Y", 1}}}};
  FakeCall* call = Add(1, 2);
  call->request.wanted_outputs = {1};
  AddOutput({1, 2});
  AddOutput({1, 3, 3});
  batch_.row_failed = {0};
  step_.Complete(batch_);
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{1, 2, 2}));
  EXPECT_THAT(Elements(*call, 0), ElementsAre(0, 1, 3, 4));
}

TEST_F(AnswerStepTest, ClientsMaySeeAnotherShape) {
  spec_.outputs[1].dims = {-1, 2, 2};
  spec_.outputs[1].client_dims = Dims{-1, 4};
  FakeCall* call = Add(1, 2);
  call->request.wanted_outputs = {1};
  AddOutput({1, 2});
  AddOutput({1, 3, 2, 2});
  batch_.row_failed = {0};
  step_.Complete(batch_);
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{1, 3, 4}));
}

TEST_F(AnswerStepTest, NothingIsCutForAPaddedInputThatIsLeftOut) {
  spec_.outputs[1].dims = {-1};
  spec_.pad = {{"IN", 0, {3}, 0, {{"Y", 0}}}};
  FakeCall* call = Add(1, 2);
  call->request.inputs[0] = {};
  call->request.wanted_outputs = {1};
  AddOutput({1, 2});
  AddOutput({1, 3});
  batch_.row_failed = {0};
  step_.Complete(batch_);
  EXPECT_EQ(call->sink.outputs()[0].dims, (Dims{1, 3}));
}

std::vector<uint8_t> Cut(Dims dims, uint32_t first_row, uint32_t rows, uint32_t dim,
                         int64_t length) {
  std::string bytes(*ElementCount(dims), '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  uint64_t cut_bytes = 0;
  const std::unique_ptr<char[]> cut =
      CutRows({DataType::kUint8, dims, bytes}, first_row, rows, dim, length, &cut_bytes);
  return std::vector<uint8_t>(cut.get(), cut.get() + cut_bytes);
}

TEST(CutRows, KeepsTheFirstOfTheDimInEachRow) {
  EXPECT_THAT(Cut({2, 3}, 0, 2, 0, 2), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(Cut({2, 3}, 1, 1, 0, 1), ElementsAre(3));
  EXPECT_THAT(Cut({1, 3, 2}, 0, 1, 0, 2), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Cut({1, 2, 3}, 0, 1, 1, 1), ElementsAre(0, 3));
  EXPECT_THAT(Cut({2, 3}, 0, 2, 0, 0), ElementsAre());
}

// Rows of strings differ in length: each answer is cut where the rows were found to end.
TEST_F(AnswerStepTest, StringsAreCutAtTheirRowsEnds) {
  spec_.outputs = {{"T", DataType::kBytes, {1}}};
  FakeCall* first = Add(1);
  FakeCall* second = Add(2);
  FakeCall* third = Add(1);
  const std::string bytes = "aabbbbbbc";
  batch_.outputs.push_back({DataType::kBytes, {4, 1}, bytes, {2, 5, 8, 9}});
  batch_.row_failed.assign(4, 0);
  step_.Complete(batch_);
  EXPECT_EQ(first->sink.outputs().at(0).bytes, "aa");
  EXPECT_EQ(second->sink.outputs().at(0).bytes, "bbbbbb");
  EXPECT_EQ(second->sink.outputs().at(0).dims, (Dims{2, 1}));
  EXPECT_EQ(third->sink.outputs().at(0).bytes, "c");
  EXPECT_EQ(third->sink.outputs().at(0).datatype, DataType::kBytes);
}

TEST_F(AnswerStepTest, StatisticsCountABatchBeforeItsAnswers) {
  Add(1);
  Add(2);
  Complete();
  const InferenceStatistics::Totals totals = metrics_.inference.Read();
  EXPECT_EQ(totals.inference_count, 3u);
  EXPECT_EQ(totals.execution_count, 1u);
  EXPECT_EQ(totals.success.count, 2u);
  EXPECT_EQ(totals.success.ns, 800u);
  EXPECT_EQ(totals.queue.ns, 200u);
  EXPECT_EQ(totals.compute_input.ns, 200u);
  EXPECT_EQ(totals.compute_infer.ns, 200u);
  EXPECT_EQ(totals.compute_output.ns, 200u);
  EXPECT_GT(totals.last_inference_ms, 0);
  ASSERT_EQ(totals.by_batch_size.size(), 4u);
  EXPECT_EQ(totals.by_batch_size[3].compute_infer.count, 1u);
  EXPECT_EQ(totals.by_batch_size[3].compute_infer.ns, 100u);
}

TEST_F(AnswerStepTest, StatisticsOfABatchThatFailed) {
  Add(2);
  batch_.failure = absl::InternalError("PyTorch execute failure: x");
  step_.Complete(batch_);
  const InferenceStatistics::Totals totals = metrics_.inference.Read();
  EXPECT_EQ(totals.execution_count, 1u);
  EXPECT_EQ(totals.success.count, 0u);
  EXPECT_EQ(totals.inference_count, 0u);
  EXPECT_EQ(totals.by_batch_size[2].compute_infer.count, 1u);
}

TEST_F(AnswerStepTest, StatisticsLeaveOutRowsThatFailedAndThoseNobodyWaitsFor) {
  Add(1);
  Add(1);
  Add(1);
  Output();
  batch_.row_failed[0] = 1;
  batch_.entries[1].request->reply.Fail(absl::CancelledError());
  batch_.entries[1].request = nullptr;
  step_.Complete(batch_);
  const InferenceStatistics::Totals totals = metrics_.inference.Read();
  EXPECT_EQ(totals.execution_count, 1u);
  EXPECT_EQ(totals.success.count, 1u);
  EXPECT_EQ(totals.inference_count, 1u);
}

TEST_F(AnswerStepTest, TheTimeOfEachTurnIsAddedUpWhateverItBrings) {
  FakeCall* call = Add(1);
  batch_.part = AnswerPart::kOneOfMany;
  Complete();
  EXPECT_EQ(call->request.sums.infer_ns, 100);
  batch_.answer_index = 1;
  batch_.finished_ns += 60;
  batch_.part = AnswerPart::kWhole;
  batch_.failure = absl::InternalError("it threw");
  step_.Complete(batch_);
  EXPECT_EQ(call->request.sums.input_ns, 200);
  EXPECT_EQ(call->request.sums.infer_ns, 260);
  EXPECT_EQ(call->request.sums.output_ns, 140);
}

TEST_F(AnswerStepTest, TheLastTurnIsInTheStatisticsOnce) {
  FakeCall* call = Add(1);
  batch_.part = AnswerPart::kOneOfMany;
  Complete();
  batch_.answer_index = 1;
  batch_.part = AnswerPart::kNoMore;
  step_.Complete(batch_);
  EXPECT_TRUE(call->sink.ended());
  EXPECT_EQ(call->request.sums.infer_ns, 200);
  EXPECT_EQ(metrics_.inference.Read().compute_infer.ns, 200u);
}

TEST_F(AnswerStepTest, ABatchThatNoLaneRanIsNoExecution) {
  Add(1);
  batch_.failure = absl::DeadlineExceededError("Request timeout expired");
  step_.Complete(batch_);
  EXPECT_EQ(metrics_.inference.Read().execution_count, 0u);
}

}  // namespace
}  // namespace mpsd
