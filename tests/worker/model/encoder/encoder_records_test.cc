// Recorded runs of encoders, and weights that they share. Only cuda records, so those tests need a
// device: MPSD_TEST_DEVICE=cuda:0, and libmpsd-cuda-graphs.so beside this program.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/clock.h"
#include "tests/worker/model/collecting_sink.h"
#include "tests/worker/model/encoder/family_folder.h"
#include "tests/worker/model/test_device.h"
#include "worker/execute/record_runs.h"
#include "worker/load/load_model.h"

namespace mpsd {
namespace {

constexpr double kInHalves = 0.02;

// A family, and the precision of its layers.
using RecordedCase = std::tuple<std::string, Precision>;

// A small model of the family, on the device of the test.
class EncoderRuns : public testing::TestWithParam<RecordedCase> {
 protected:
  using Parameters = std::map<std::string, std::string>;

  std::unique_ptr<Model> Load(const FamilyFolder& folder, const Parameters& parameters = {}) {
    LoadOrder order;
    order.model = "m";
    order.format = ModelFormat::kHuggingFace;
    order.path = folder.path();
    order.device = TestDevice();
    order.precision = std::get<Precision>(GetParam());
    order.parameters = parameters;
    entries_ = folder.answers();
    absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? *std::move(model) : nullptr;
  }

  // Runs rows of the entries, filled up to `length` with tokens that do not count.
  void Run(const std::vector<FamilyAnswer>& entries, size_t length, CollectingSink* sink) {
    std::vector<int64_t> ids;
    std::vector<int64_t> mask;
    std::vector<int64_t> types;
    for (const FamilyAnswer& entry : entries) {
      const size_t rest = length - entry.ids.size();
      ids.insert(ids.end(), entry.ids.begin(), entry.ids.end());
      ids.insert(ids.end(), rest, 0);
      mask.insert(mask.end(), entry.ids.size(), 1);
      mask.insert(mask.end(), rest, 0);
      types.insert(types.end(), entry.types.begin(), entry.types.end());
      types.insert(types.end(), length - entry.types.size(), 0);
    }
    const Dims dims = {static_cast<int64_t>(entries.size()), static_cast<int64_t>(length)};
    std::vector<InputTensor> inputs;
    inputs.push_back(InputOf(ids, DataType::kInt64, dims));
    inputs.push_back(InputOf(mask, DataType::kInt64, dims));
    if (model_->spec().inputs.size() > 2) inputs.push_back(InputOf(types, DataType::kInt64, dims));
    const absl::Status status = model_->Run(0, inputs, static_cast<uint32_t>(entries.size()), sink);
    ASSERT_TRUE(status.ok()) << status;
  }

  void ExpectAnswers(const std::vector<FamilyAnswer>& entries, size_t length) {
    CollectingSink sink;
    Run(entries, length, &sink);
    EXPECT_TRUE(sink.failed_rows().empty());
    for (size_t row = 0; row < entries.size(); ++row) ExpectRow(sink, row, entries);
  }

  static void ExpectRow(const CollectingSink& sink, size_t row,
                        const std::vector<FamilyAnswer>& entries) {
    const double farthest = std::get<Precision>(GetParam()) == Precision::kFp32 ? 1e-5 : kInHalves;
    size_t place = 0;
    for (size_t output = 0; output < sink.outputs().size(); ++output) {
      const std::vector<float> values = sink.Elements<float>(output);
      const size_t width = values.size() / entries.size();
      for (size_t i = 0; i < width; ++i) {
        EXPECT_NEAR(values[row * width + i], entries[row].numbers[place++], farthest)
            << "row " << row;
      }
    }
  }

  std::unique_ptr<Model> model_;
  std::vector<FamilyAnswer> entries_;
};

class EncoderRecords : public EncoderRuns {
 protected:
  void SetUp() override {
    if (TestDevice() == "cpu") GTEST_SKIP() << "no device that records";
    model_ = Load(FamilyFolder(std::get<std::string>(GetParam())));
    ASSERT_NE(model_, nullptr);
    if (model_->recorder() == nullptr) GTEST_SKIP() << "it computes padded rows";
    ASSERT_TRUE(model_->BindLane(0).ok());
    const absl::StatusOr<RecordReport> report = RecordRuns(model_.get(), 0, Clock::Real());
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->kept, report->tried) << report->Text();
    EXPECT_GT(report->kept, 0u);
  }
};

TEST_P(EncoderRecords, AnswerAsTransformersDoesInAnyBatch) {
  for (const FamilyAnswer& entry : entries_) ExpectAnswers({entry}, entry.ids.size());
  for (int turn = 0; turn < 3; ++turn) {
    ExpectAnswers(entries_, 24);
    ExpectAnswers({entries_.begin(), entries_.begin() + 2}, 24);
    std::reverse(entries_.begin(), entries_.end());
  }
}

TEST_P(EncoderRecords, ARowThatFailsFailsAloneBesideThem) {
  std::vector<FamilyAnswer> entries = entries_;
  entries[1].ids[0] = 1'000'000;
  CollectingSink sink;
  Run(entries, 24, &sink);
  ASSERT_EQ(sink.failed_rows().size(), 1u);
  for (size_t row = 0; row < entries.size(); ++row) {
    if (row != 1) ExpectRow(sink, row, entries);
  }
}

// One that uses the weights of another, which is gone. In panels they would be no tensors.
class EncoderSharedWeights : public EncoderRuns {
 protected:
  void SetUp() override {
    const FamilyFolder folder(std::get<std::string>(GetParam()));
    const Parameters parameters = {{"shared_weights", "on"}, {"panels", "off"}};
    model_ = Load(folder, parameters);
    std::unique_ptr<Model> other = Load(folder, parameters);
    ASSERT_TRUE(model_ != nullptr && other != nullptr);
    absl::StatusOr<UniqueFd> memory = other->weights()->Share();
    ASSERT_TRUE(memory.ok()) << memory.status();
    const absl::Status used = model_->weights()->Use(*std::move(memory));
    ASSERT_TRUE(used.ok()) << used;
    EXPECT_GE(model_->weights()->bytes(), model_->traits().census.parameter_bytes);
    other.reset();
    ASSERT_TRUE(model_->BindLane(0).ok());
    if (model_->recorder() != nullptr) {
      ASSERT_TRUE(RecordRuns(model_.get(), 0, Clock::Real()).ok());
    }
  }
};

TEST_P(EncoderSharedWeights, AnswerAsTransformersDoes) {
  ExpectAnswers(entries_, 24);
  for (const FamilyAnswer& entry : entries_) ExpectAnswers({entry}, entry.ids.size());
}

const auto kRecordedCases = testing::Combine(
    testing::Values<std::string>("bert_mean", "roberta", "distilbert", "bert_reranker",
                                 "modernbert", "nomic_bert", "gte_reranker", "qwen3"),
    testing::Values(Precision::kFp32, Precision::kFp16));

std::string NameOfCase(const testing::TestParamInfo<RecordedCase>& param) {
  return absl::StrCat(std::get<0>(param.param), "_", NameOf(std::get<1>(param.param)));
}

INSTANTIATE_TEST_SUITE_P(All, EncoderRecords, kRecordedCases, NameOfCase);
INSTANTIATE_TEST_SUITE_P(All, EncoderSharedWeights, kRecordedCases, NameOfCase);

}  // namespace
}  // namespace mpsd
