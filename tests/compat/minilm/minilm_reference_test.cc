// MiniLM against what sentence-transformers made of the same tokens. MPSD_MINILM names its folder,
// else it is the demo's; without it there is nothing to check.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "worker/load/load_model.h"
#include "worker/model/model.h"

namespace mpsd {
namespace {

constexpr double kFarthest = 1e-5;

struct Sentence {
  std::vector<int64_t> ids;
  std::vector<float> embedding;
};

std::vector<Sentence> ReadReference() {
  std::ifstream file(MPSD_REFERENCE);
  const nlohmann::json json = nlohmann::json::parse(file);
  std::vector<Sentence> sentences;
  for (const nlohmann::json& entry : json) {
    sentences.push_back({entry["input_ids"], entry["embedding"]});
  }
  return sentences;
}

class Embeddings final : public OutputSink {
 public:
  void* Add(DataType datatype, absl::Span<const int64_t> dims) override {
    EXPECT_EQ(datatype, DataType::kFp32);
    width_ = static_cast<size_t>(dims.back());
    values_.resize(static_cast<size_t>(dims[0]) * width_);
    return values_.data();
  }
  void* AddBytes(absl::Span<const int64_t>, uint64_t) override {
    ADD_FAILURE() << "it has no strings";
    return nullptr;
  }
  void FailRow(uint32_t, absl::string_view why) override { ADD_FAILURE() << why; }

  absl::Span<const float> Row(size_t row) const {
    return absl::MakeSpan(values_).subspan(row * width_, width_);
  }

 private:
  std::vector<float> values_;
  size_t width_ = 0;
};

// The largest difference of two numbers in one place; infinite where one is not a number.
double Distance(absl::Span<const float> a, absl::Span<const float> b) {
  double largest = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - b[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

class MiniLm : public testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("MPSD_MINILM");
    const char* path = named == nullptr ? MPSD_DEMO_MODEL : named;
    if (!std::ifstream(path)) GTEST_SKIP() << "there is no " << path;
    LoadOrder order;
    order.model = "minilm";
    order.format = ModelFormat::kHuggingFace;
    order.path = path;
    order.device = "cpu";
    absl::StatusOr<std::unique_ptr<Model>> model = LoadModel(order);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    ASSERT_TRUE(model_->BindLane(0).ok());
    sentences_ = ReadReference();
    ASSERT_EQ(sentences_.size(), 20u);
  }

  // Runs rows of `length` tokens, padded with zeros, and holds each to its reference.
  void Check(absl::Span<const Sentence> sentences, size_t length) {
    const size_t rows = sentences.size();
    std::vector<int64_t> ids(rows * length);
    std::vector<int64_t> mask(rows * length);
    for (size_t row = 0; row < rows; ++row) {
      ASSERT_LE(sentences[row].ids.size(), length);
      std::copy(sentences[row].ids.begin(), sentences[row].ids.end(), &ids[row * length]);
      std::fill_n(&mask[row * length], sentences[row].ids.size(), 1);
    }
    const Dims dims = {static_cast<int64_t>(rows), static_cast<int64_t>(length)};
    const uint64_t bytes = ids.size() * sizeof(int64_t);
    const InputTensor inputs[] = {{ids.data(), bytes, DataType::kInt64, dims},
                                  {mask.data(), bytes, DataType::kInt64, dims},
                                  InputTensor()};
    Embeddings embeddings;
    const absl::Status status = model_->Run(0, inputs, static_cast<uint32_t>(rows), &embeddings);
    ASSERT_TRUE(status.ok()) << status;
    for (size_t row = 0; row < rows; ++row) {
      EXPECT_LE(Distance(embeddings.Row(row), sentences[row].embedding), kFarthest)
          << "row " << row;
    }
  }

  std::unique_ptr<Model> model_;
  std::vector<Sentence> sentences_;
};

TEST_F(MiniLm, TellsItsSpec) {
  const ModelSpec& spec = model_->spec();
  EXPECT_EQ(spec.max_batch_size, 32u);
  ASSERT_EQ(spec.inputs.size(), 3u);
  EXPECT_EQ(TensorText(spec.inputs[0]), "input_ids:INT64[-1]");
  EXPECT_EQ(TensorText(spec.inputs[1]), "attention_mask:INT64[-1]");
  ASSERT_EQ(spec.outputs.size(), 1u);
  EXPECT_EQ(TensorText(spec.outputs[0]), "sentence_embedding:FP32[384]");
  ASSERT_EQ(spec.pad.size(), 3u);
  EXPECT_EQ(spec.pad[1].buckets, (std::vector<int64_t>{16, 32, 64, 128, 256}));
}

// Where qemu computes, the other tests take an hour.
TEST_F(MiniLm, EmbedsAShortSentenceAsTheReferenceDoes) {
  Check({&sentences_[0], 1}, sentences_[0].ids.size());
}

TEST_F(MiniLm, EmbedsEachSentenceAloneAsTheReferenceDoes) {
  for (const Sentence& sentence : sentences_) Check({&sentence, 1}, sentence.ids.size());
}

TEST_F(MiniLm, EmbedsPaddedBatchesAsTheReferenceDoes) { Check(sentences_, 256); }

TEST_F(MiniLm, EmbedsInAnyOrderAsTheReferenceDoes) {
  std::reverse(sentences_.begin(), sentences_.end());
  Check(sentences_, 200);
}

TEST_F(MiniLm, GivesZerosForARowWithoutTokens) {
  const std::vector<int64_t> ids(16, 0);
  const InputTensor input = {ids.data(), 16 * sizeof(int64_t), DataType::kInt64, {1, 16}};
  const InputTensor inputs[] = {input, input, InputTensor()};
  Embeddings embeddings;
  ASSERT_TRUE(model_->Run(0, inputs, 1, &embeddings).ok());
  for (const float value : embeddings.Row(0)) ASSERT_EQ(value, 0.0f);
}

}  // namespace
}  // namespace mpsd
