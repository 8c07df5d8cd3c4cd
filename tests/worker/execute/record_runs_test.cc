#include "worker/execute/record_runs.h"

#include <cstring>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Echoes its inputs, which takes 900 ns, and 200 where it was recorded. Its first two runs of each
// shape answer otherwise.
class RecordingModel final : public Model, private RunRecorder {
 public:
  explicit RecordingModel(ModelSpec spec) : Model(std::move(spec), {.device = "cuda:0"}) {}

  RunRecorder* recorder() override { return this; }
  std::vector<TrialShape> Shapes() const override { return RecordShapes(spec()); }
  absl::Status Record(uint32_t, absl::Span<const InputTensor> inputs, uint32_t rows) override {
    asked.push_back({rows, inputs[0].dims.back()});
    if (rows == unrecordable_rows) return record_status;
    recorded.insert(asked.back());
    return absl::OkStatus();
  }
  void SetPrice(uint32_t, absl::Span<const InputTensor> inputs, const RunPrice& price) override {
    EXPECT_EQ(inputs[0].dims[0], price.rows);
    prices.push_back(price);
  }
  void Drop(uint32_t, absl::Span<const InputTensor> inputs, uint32_t rows) override {
    recorded.erase({rows, inputs[0].dims.back()});
  }
  absl::Status Run(uint32_t, absl::Span<const InputTensor> inputs, uint32_t rows,
                   OutputSink* sink) override {
    const bool is_replay = recorded.count({rows, inputs[0].dims.back()}) > 0;
    clock.Advance(is_replay ? 200 : 900);
    const bool is_settled = ++runs[{rows, inputs[0].dims.back()}] > 2;
    if (!is_settled || (is_replay && rows == wrong_rows)) {
      const std::vector<char> zeros(inputs[0].bytes);
      InputTensor other = inputs[0];
      other.data = zeros.data();
      return EchoInputs({other}, rows, sink);
    }
    if (is_replay && rows == nudged_rows) {
      std::vector<float> floats(inputs[0].bytes / sizeof(float));
      std::memcpy(floats.data(), inputs[0].data, inputs[0].bytes);
      for (float& number : floats) number *= 1.000001F;
      InputTensor other = inputs[0];
      other.data = floats.data();
      return EchoInputs({other}, rows, sink);
    }
    return run_status.ok() ? EchoInputs(inputs, rows, sink) : run_status;
  }

  FakeClock clock;
  uint32_t unrecordable_rows = 0;
  absl::Status record_status;
  uint32_t wrong_rows = 0;   // a replay of so many rows answers otherwise
  uint32_t nudged_rows = 0;  // one of so many in other last digits
  absl::Status run_status;
  std::vector<std::pair<uint32_t, int64_t>> asked;  // rows and length
  std::set<std::pair<uint32_t, int64_t>> recorded;
  std::map<std::pair<uint32_t, int64_t>, int> runs;
  std::vector<RunPrice> prices;
};

ModelSpec Spec(uint32_t rows_max, int64_t length) {
  ModelSpec spec;
  spec.max_batch_size = rows_max;
  spec.inputs = {{"x", DataType::kFp32, {length}}};
  spec.outputs = {{"y", DataType::kFp32, {length}}};
  return spec;
}

RecordReport Report(RecordingModel* model) {
  const absl::StatusOr<RecordReport> report = RecordRuns(model, 0, &model->clock);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.value_or(RecordReport());
}

TEST(RecordRuns, EachBucketOfRowsTheLargestFirst) {
  RecordingModel model(Spec(6, 16));
  EXPECT_EQ(Report(&model).Text(), "replays 4 of 4 shapes");
  EXPECT_THAT(model.asked, ElementsAre(std::pair(6U, 16), std::pair(4U, 16), std::pair(2U, 16),
                                       std::pair(1U, 16)));
  ASSERT_EQ(model.prices.size(), 4U);
  EXPECT_EQ(model.prices[0].replayed_ns, 200);
  EXPECT_EQ(model.prices[0].plain_ns, 900);
}

TEST(RecordRuns, LargeSizesLieNearerToEachOther) {
  RecordingModel model(Spec(64, 16));
  Report(&model);
  std::vector<uint32_t> rows;
  for (const auto& [asked, length] : model.asked) rows.push_back(asked);
  EXPECT_THAT(rows, ElementsAre(64, 48, 32, 24, 16, 8, 4, 2, 1));
}

TEST(RecordRuns, EachBucketOfAPaddedDim) {
  ModelSpec spec = Spec(1, -1);
  spec.pad = {{"x", 0, {8, 32}, 0, {}}};
  RecordingModel model(spec);
  EXPECT_EQ(Report(&model).kept, 2U);
  EXPECT_THAT(model.asked, ElementsAre(std::pair(1U, 32), std::pair(1U, 8)));
}

TEST(RecordRuns, NothingOfAModelWithAnOpenDimThatIsNotPadded) {
  RecordingModel model(Spec(4, -1));
  EXPECT_EQ(Report(&model).why, "an open dim has no buckets");
  EXPECT_THAT(model.asked, IsEmpty());
}

TEST(RecordRuns, AReplayThatAnswersOtherwiseIsDropped) {
  RecordingModel model(Spec(4, 16));
  model.wrong_rows = 2;
  EXPECT_EQ(Report(&model).Text(), "replays 2 of 3 shapes; 1 without: a replay answers otherwise");
  EXPECT_THAT(model.recorded, ElementsAre(std::pair(1U, 16), std::pair(4U, 16)));
}

TEST(RecordRuns, AReplayMayAnswerInOtherLastDigits) {
  RecordingModel model(Spec(4, 16));
  model.nudged_rows = 2;
  EXPECT_EQ(Report(&model).Text(), "replays 3 of 3 shapes");
}

TEST(RecordRuns, WhatCannotBeRecordedRunsAsEver) {
  RecordingModel model(Spec(2, 16));
  model.unrecordable_rows = 2;
  model.record_status = absl::FailedPreconditionError("it looks at its numbers");
  EXPECT_EQ(Report(&model).Text(), "replays 1 of 2 shapes; 1 without: it looks at its numbers");
}

TEST(RecordRuns, AModelThatRefusesRandomNumbersIsNotRecorded) {
  RecordingModel model(Spec(2, 16));
  model.run_status = absl::InternalError("PyTorch execute failure: no such word");
  EXPECT_THAT(Report(&model).why, HasSubstr("no such word"));
  EXPECT_THAT(model.asked, IsEmpty());
}

TEST(RecordRuns, ALostDeviceIsAnError) {
  RecordingModel model(Spec(2, 16));
  model.unrecordable_rows = 2;
  model.record_status = absl::DataLossError("gone");
  EXPECT_TRUE(absl::IsDataLoss(RecordRuns(&model, 0, &model.clock).status()));
}

}  // namespace
}  // namespace mpsd
