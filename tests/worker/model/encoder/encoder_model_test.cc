// Models of each family against transformers' answers to the same tokens (make_families.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/model/collecting_sink.h"
#include "tests/worker/model/encoder/family_folder.h"
#include "tests/worker/model/test_device.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"
#include "worker/model/products/panels.h"

namespace mpsd {
namespace {

using testing::HasSubstr;

constexpr double kFarthest = 1e-5;

// How far an answer may be from transformers'.
struct Agreement {
  double farthest = kFarthest;
  double cosine = 0.999;
};

absl::StatusOr<std::unique_ptr<Model>> Load(const std::string& folder,
                                            Precision precision = Precision::kAsSaved) {
  LoadOrder order;
  order.model = "m";
  order.format = ModelFormat::kHuggingFace;
  order.path = folder;
  order.device = TestDevice();
  order.precision = precision;
  return LoadModel(order);
}

// Rows as one batch, padded to its longest or to `length`.
class Rows {
 public:
  explicit Rows(const std::vector<FamilyAnswer>& entries, size_t length = 0) {
    for (const FamilyAnswer& entry : entries) length = std::max(length, entry.ids.size());
    for (const FamilyAnswer& entry : entries) {
      Append(entry.ids, length, &ids_);
      Append(std::vector<int64_t>(entry.ids.size(), 1), length, &mask_);
      if (!entry.types.empty()) Append(entry.types, length, &types_);
    }
    dims_ = {static_cast<int64_t>(entries.size()), static_cast<int64_t>(length)};
  }

  // The outputs of each row, one behind the other.
  std::vector<std::vector<float>> Run(Model* model, CollectingSink* sink) const {
    std::vector<InputTensor> inputs;
    inputs.push_back(InputOf(ids_, DataType::kInt64, dims_));
    inputs.push_back(InputOf(mask_, DataType::kInt64, dims_));
    if (model->spec().inputs.size() > 2) {
      inputs.emplace_back();
      if (!types_.empty()) inputs.back() = InputOf(types_, DataType::kInt64, dims_);
    }
    const auto rows = static_cast<uint32_t>(dims_[0]);
    const absl::Status status = model->Run(0, inputs, rows, sink);
    EXPECT_TRUE(status.ok()) << status;
    std::vector<std::vector<float>> answers(rows);
    for (size_t output = 0; output < sink->outputs().size(); ++output) {
      const std::vector<float> values = sink->Elements<float>(output);
      const size_t width = values.size() / rows;
      for (size_t i = 0; i < values.size(); ++i) answers[i / width].push_back(values[i]);
    }
    return answers;
  }

 private:
  static void Append(const std::vector<int64_t>& row, size_t length, std::vector<int64_t>* all) {
    all->insert(all->end(), row.begin(), row.end());
    all->insert(all->end(), length - row.size(), 0);
  }

  std::vector<int64_t> ids_;
  std::vector<int64_t> mask_;
  std::vector<int64_t> types_;
  Dims dims_;
};

double Cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const double product = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  const double a_square = std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  const double b_square = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
  return product / std::sqrt(a_square * b_square);
}

void ExpectAnswers(Model* model, const std::vector<FamilyAnswer>& entries, size_t length = 0,
                   const Agreement& wanted = {}) {
  CollectingSink sink;
  const std::vector<std::vector<float>> answers = Rows(entries, length).Run(model, &sink);
  EXPECT_TRUE(sink.failed_rows().empty());
  for (size_t row = 0; row < entries.size(); ++row) {
    ASSERT_EQ(answers[row].size(), entries[row].numbers.size());
    for (size_t i = 0; i < answers[row].size(); ++i) {
      EXPECT_NEAR(answers[row][i], entries[row].numbers[i], wanted.farthest) << "row " << row;
    }
    EXPECT_GE(Cosine(answers[row], entries[row].numbers), wanted.cosine) << "row " << row;
  }
}

class EncoderFamilies : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const FamilyFolder folder(GetParam());
    absl::StatusOr<std::unique_ptr<Model>> model = Load(folder.path());
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
    ASSERT_TRUE(model_->BindLane(0).ok());
    entries_ = folder.answers();
    ASSERT_EQ(entries_.size(), 7u);
  }

  std::unique_ptr<Model> model_;
  std::vector<FamilyAnswer> entries_;
};

TEST_P(EncoderFamilies, AnswerEachRowAsTransformersDoes) {
  for (const FamilyAnswer& entry : entries_) ExpectAnswers(model_.get(), {entry});
}

TEST_P(EncoderFamilies, AnswerAlikeInAnyOrderAndPadding) {
  ExpectAnswers(model_.get(), entries_);
  ExpectAnswers(model_.get(), entries_, 24);
  std::reverse(entries_.begin(), entries_.end());
  ExpectAnswers(model_.get(), entries_);
  std::rotate(entries_.begin(), entries_.begin() + 3, entries_.end());
  ExpectAnswers(model_.get(), entries_, 21);
}

TEST_P(EncoderFamilies, AnswerNearlyAlikeInHalves) {
  const FamilyFolder folder(GetParam());
  // Eight bits of fraction are few for the least of the families, whose heads have twelve numbers.
  const Agreement in_bf16 = {0.1, 0.998};
  for (const auto& [precision, wanted] :
       {std::pair(Precision::kBf16, in_bf16), std::pair(Precision::kFp16, Agreement{0.02})}) {
    const absl::StatusOr<std::unique_ptr<Model>> model = Load(folder.path(), precision);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ((*model)->traits().precision, precision);
    EXPECT_EQ((*model)->spec(), model_->spec());
    EXPECT_LT((*model)->traits().census.parameter_bytes, model_->traits().census.parameter_bytes);
    ASSERT_TRUE((*model)->BindLane(0).ok());
    ExpectAnswers(model->get(), entries_, 24, wanted);
  }
}

TEST_P(EncoderFamilies, AnswerNearlyAlikeInInt8) {
  if (!HasPanelProducts() || model_->traits().device != "cpu")
    GTEST_SKIP() << "there is no int8 here";
  const FamilyFolder folder(GetParam());
  const absl::StatusOr<std::unique_ptr<Model>> model = Load(folder.path(), Precision::kInt8);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().precision, Precision::kInt8);
  EXPECT_THAT((*model)->traits().precision_note, HasSubstr("its cosine to fp32 is "));
  EXPECT_EQ((*model)->spec(), model_->spec());
  EXPECT_LT((*model)->traits().census.parameter_bytes, model_->traits().census.parameter_bytes);
  EXPECT_EQ((*model)->traits().census.parameter_dtypes, (std::vector<std::string>{"FP32", "INT8"}));
  ASSERT_TRUE((*model)->BindLane(0).ok());
  ExpectAnswers(model->get(), entries_, 24, {0.1, 0.99});
}

// Nothing that a row is rounded by comes from the rows beside it.
TEST_P(EncoderFamilies, AnswerAlikeInAnyOrderInInt8) {
  if (!HasPanelProducts() || model_->traits().device != "cpu")
    GTEST_SKIP() << "there is no int8 here";
  const FamilyFolder folder(GetParam());
  const absl::StatusOr<std::unique_ptr<Model>> model = Load(folder.path(), Precision::kInt8);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_TRUE((*model)->BindLane(0).ok());
  for (FamilyAnswer& entry : entries_) {
    CollectingSink sink;
    entry.numbers = Rows({entry}).Run(model->get(), &sink)[0];
  }
  ExpectAnswers(model->get(), entries_);
  std::reverse(entries_.begin(), entries_.end());
  ExpectAnswers(model->get(), entries_, 24);
}

INSTANTIATE_TEST_SUITE_P(All, EncoderFamilies,
                         testing::Values("bert_mean", "bert_dense", "bert_sharded_bf16", "roberta",
                                         "xlm_roberta_fp16", "camembert", "distilbert", "mpnet",
                                         "bert_reranker", "roberta_classifier",
                                         "distilbert_classifier", "mpnet_classifier", "modernbert",
                                         "modernbert_classifier", "nomic_bert", "nomic_bert_first",
                                         "nomic_bert_classifier", "gte", "gte_first",
                                         "gte_reranker", "qwen3", "qwen3_reranker",
                                         "qwen3_reranker_untied", "gemma3"),
                         [](const auto& param) { return std::string(param.param); });

// A folder for tests to spoil.
class EncoderModel : public testing::Test {
 protected:
  explicit EncoderModel(const std::string& family = "bert_mean") : family_(family) {}

  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary | std::ios::trunc) << text;
  }
  void Replace(const std::string& name, const std::string& what, const std::string& with) const {
    std::string text = Read(name);
    const size_t at = text.find(what);
    ASSERT_NE(at, std::string::npos) << what;
    Write(name, text.replace(at, what.size(), with));
  }
  std::string Error() const {
    const auto model = Load(folder_);
    return model.ok() ? "it loaded" : std::string(model.status().message());
  }

  const FamilyFolder family_;
  const std::string folder_ = family_.path();
};

TEST_F(EncoderModel, ARowOutsideOfTheWordsFailsAlone) {
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  std::vector<FamilyAnswer> entries = family_.answers();
  entries[2].ids[0] = 60;
  entries[3].ids[1] = -1;
  entries[4].types[0] = 2;
  CollectingSink sink;
  const auto answers = Rows(entries).Run(model->get(), &sink);
  EXPECT_EQ(sink.failed_rows().size(), 3u);
  EXPECT_EQ(sink.failed_rows().at(2), "the token id 60 is outside of the model's 60 words");
  EXPECT_EQ(sink.failed_rows().at(3), "the token id -1 is outside of the model's 60 words");
  EXPECT_EQ(sink.failed_rows().at(4), "the token type 2 is outside of the model's 2");
  for (size_t i = 0; i < answers[5].size(); ++i) {
    EXPECT_NEAR(answers[5][i], entries[5].numbers[i], kFarthest);
  }
}

TEST_F(EncoderModel, GivesZerosForARowWithoutTokens) {
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  const std::vector<int64_t> zeros(16, 0);
  const InputTensor input = InputOf(zeros, DataType::kInt64, {1, 16});
  const InputTensor inputs[] = {input, input, InputTensor()};
  CollectingSink sink;
  ASSERT_TRUE((*model)->Run(0, inputs, 1, &sink).ok());
  for (const float value : sink.Elements<float>(0)) EXPECT_EQ(value, 0.0F);
}

TEST_F(EncoderModel, TellsItsSpecFactsAndCensus) {
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  const ModelSpec& spec = (*model)->spec();
  ASSERT_EQ(spec.inputs.size(), 3u);
  EXPECT_TRUE(spec.inputs[2].optional);
  EXPECT_EQ(TensorText(spec.outputs[0]), "sentence_embedding:FP32[16]");
  EXPECT_EQ((*model)->traits().facts[0].text, "bert");
  const Census census = (*model)->traits().census;
  EXPECT_TRUE(census.known);
  EXPECT_EQ(census.attention, 2u);
  EXPECT_EQ(census.layer_norm, 5u);
  EXPECT_EQ(census.linear, 8u);
  EXPECT_GT(census.parameter_bytes, 10'000u);
}

TEST_F(EncoderModel, ComputesInFloatUnlessItIsTold) {
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().precision, Precision::kFp32);
  EXPECT_EQ((*model)->traits().census.parameter_dtypes, std::vector<std::string>{"FP32"});
  const auto half = Load(folder_, Precision::kBf16);
  ASSERT_TRUE(half.ok()) << half.status();
  EXPECT_EQ((*half)->traits().census.parameter_dtypes, std::vector<std::string>{"BF16"});
}

TEST_F(EncoderModel, OneThatWasSavedInHalfSaysSoInFloatToo) {
  const FamilyFolder saved("xlm_roberta_fp16");
  const auto model = Load(saved.path(), Precision::kFp32);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().census.parameter_dtypes, std::vector<std::string>{"FP32"});
  EXPECT_EQ((*model)->traits().census.saved_dtypes, std::vector<std::string>{"FP16"});
}

TEST_F(EncoderModel, IsNotComparedOnCpu) {
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().wants_self_check, (*model)->traits().device != "cpu");
}

TEST_F(EncoderModel, TrialRunsStayInItsTables) {
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().trial_range(0), (std::pair<int64_t, int64_t>(0, 59)));
  EXPECT_EQ((*model)->traits().trial_range(1), (std::pair<int64_t, int64_t>(1, 1)));
  EXPECT_EQ((*model)->traits().trial_range(2), (std::pair<int64_t, int64_t>(0, 1)));
}

TEST_F(EncoderModel, TellsTheLabelsOfAClassifier) {
  const FamilyFolder classifier("roberta_classifier");
  const auto model = Load(classifier.path());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().labels, (std::vector<std::string>{"anger", "joy", "neither"}));
  const auto embedder = Load(folder_);
  ASSERT_TRUE(embedder.ok()) << embedder.status();
  EXPECT_TRUE((*embedder)->traits().labels.empty());
}

class RerankerModel : public EncoderModel {
 protected:
  RerankerModel() : EncoderModel("gte_reranker") {}
};

TEST_F(RerankerModel, HasTheLabelsOfItsWeightsWhereItsConfigTellsNone) {
  Replace("config.json", "\"id2label\"", "\"names\"");
  const auto model = Load(folder_);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->traits().labels, std::vector<std::string>{"LABEL_0"});
  EXPECT_EQ(TensorText((*model)->spec().outputs[1]), "scores:FP32[1]");
}

TEST_F(EncoderModel, NamesTheTensorThatWouldBeLost) {
  Replace("config.json", "\"num_hidden_layers\":2", "\"num_hidden_layers\":1");
  EXPECT_THAT(Error(), HasSubstr("model 'm': the tensor 'encoder.layer.1."));
  EXPECT_THAT(Error(), HasSubstr("would be lost"));
}

TEST_F(EncoderModel, NamesTheTensorThatIsMissing) {
  Replace("config.json", "\"num_hidden_layers\":2", "\"num_hidden_layers\":3");
  EXPECT_THAT(Error(), HasSubstr("the tensor 'encoder.layer.2.attention.self.query.weight' is "
                                 "missing"));
}

TEST_F(EncoderModel, NamesTheTensorOfAWrongShape) {
  Replace("config.json", "\"vocab_size\":60", "\"vocab_size\":16777216");
  EXPECT_THAT(Error(), HasSubstr("the tensor 'embeddings.word_embeddings.weight' has the shape "
                                 "[60,16], not [16777216,16]"));
}

TEST_F(EncoderModel, NamesAFileThatIsCutShort) {
  const std::string file = Read("model.safetensors");
  Write("model.safetensors", file.substr(0, file.size() - 1));
  EXPECT_THAT(Error(), HasSubstr("model 'm': model.safetensors: tensor '"));
}

TEST_F(EncoderModel, NamesWhatIsNotThere) {
  std::filesystem::remove(folder_ + "/config.json");
  EXPECT_THAT(Error(), HasSubstr("model 'm': config.json is not there"));
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(Error(), "model 'm': there is no folder '" + folder_ + "'");
}

}  // namespace
}  // namespace mpsd
