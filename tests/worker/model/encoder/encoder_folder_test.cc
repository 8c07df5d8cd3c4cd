#include "worker/model/encoder/encoder_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/worker/model/encoder/weights/checkpoint_file.h"

namespace mpsd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EncoderFolderTest : public testing::Test {
 protected:
  EncoderFolderTest() { WriteConfig(R"("architectures": ["BertModel"])"); }
  ~EncoderFolderTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::trunc) << text;
  }
  void WriteConfig(const std::string& more) const {
    Write("config.json",
          absl::StrCat(R"({"model_type": "bert", "hidden_size": 4, "num_hidden_layers": 1,
                           "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 10,
                           "max_position_embeddings": 40, "type_vocab_size": 2, )",
                       more, "}"));
  }
  void WriteSteps(const std::string& more) const {
    Write("modules.json", absl::StrCat(R"([{"type": "s.Transformer", "path": ""},
                                           {"type": "s.Pooling", "path": "1_Pooling"})",
                                       more, "]"));
    Write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true})");
  }
  std::string Error() const {
    const absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(folder_);
    return folder.ok() ? "it was read" : std::string(folder.status().message());
  }
  ModelSpec Spec(const LoadOrder& order = {}) const {
    return EncoderSpec(order, ReadEncoderFolder(folder_).value()).value();
  }

  std::string TokensFact(const LoadOrder& order = {}) const {
    return FactsOf(ReadEncoderFolder(folder_).value(), Spec(order)).back().text;
  }

  const std::string folder_ = testing::TempDir() + "mpsd_folder_" + std::to_string(getpid());
};

TEST_F(EncoderFolderTest, WithoutModulesTheMeanIsTaken) {
  const absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(folder_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->pooling, Pooling::kMean);
  EXPECT_TRUE(folder->tail.empty());
  EXPECT_EQ(folder->max_tokens, 40);
  const std::vector<ModelFact> facts = FactsOf(*folder, {});
  EXPECT_THAT(facts[2].text, HasSubstr("mean (the default"));
  EXPECT_EQ(facts[3].text, "1 layers, 4 wide, 2 heads");
  EXPECT_EQ(facts[4].name, "words");
  EXPECT_EQ(facts[4].text, "10");
}

TEST_F(EncoderFolderTest, ReadsTheStepsBehindTheEncoder) {
  WriteSteps(R"(, {"type": "s.Dense", "path": "2_Dense"}, {"type": "s.Normalize", "path": "3_N"})");
  Write("2_Dense/config.json", R"({"in_features": 4, "out_features": 7})");
  Write("sentence_bert_config.json", R"({"max_seq_length": 20})");
  const absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(folder_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->pooling, Pooling::kFirst);
  EXPECT_EQ(folder->width(), 7);
  EXPECT_EQ(folder->max_tokens, 20);
  EXPECT_EQ(FactsOf(*folder, {})[2].text, "cls, dense to 7, normalize");
}

TEST_F(EncoderFolderTest, NamesTheFileAtFault) {
  WriteSteps(R"(, {"type": "s.Dense", "path": "2_Dense"})");
  EXPECT_EQ(Error(), "2_Dense/config.json is not there");
  Write("2_Dense/config.json", R"({"in_features": 5, "out_features": 7})");
  EXPECT_EQ(Error(), "2_Dense/config.json: 'in_features' is 5, but the step before gives 4");
  Write("modules.json", "{");
  EXPECT_THAT(Error(), HasSubstr("modules.json: is no JSON"));
  Write("config.json", std::string((4 << 20) + 1, ' '));
  EXPECT_EQ(Error(), "config.json is larger than 4 MiB");
  std::filesystem::remove(folder_ + "/config.json");
  EXPECT_EQ(Error(), "config.json is not there");
}

TEST_F(EncoderFolderTest, AHeadForWordsIsRefusedButBelowModules) {
  WriteConfig(R"("architectures": ["BertForMaskedLM"])");
  EXPECT_THAT(Error(), HasSubstr("names a head for words"));
  WriteSteps("");
  EXPECT_EQ(Error(), "it was read");
}

// A model that tells the next word.
class ChatFolderTest : public EncoderFolderTest {
 protected:
  ChatFolderTest() { WriteChat("qwen3", "Qwen3ForCausalLM", 9694); }
  void WriteChat(const std::string& type, const std::string& architecture, int words) const {
    Write("config.json",
          absl::StrCat(R"({"model_type": ")", type, R"(", "architectures": [")", architecture,
                       R"("], "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2,
                       "num_key_value_heads": 1, "head_dim": 4, "intermediate_size": 8,
                       "max_position_embeddings": 40, "vocab_size": )",
                       words, "}"));
  }
  void WriteLogitScore(const std::string& words) const {
    Write("modules.json", R"([{"type": "s.Transformer", "path": ""},
                              {"type": "s.LogitScore", "path": "1_LogitScore"}])");
    Write("1_LogitScore/config.json", words);
  }
};

TEST_F(ChatFolderTest, IsARerankerWhereItsFilesSaySo) {
  WriteLogitScore(R"({"true_token_id": 9693, "false_token_id": 2152})");
  const absl::StatusOr<EncoderFolder> folder = ReadEncoderFolder(folder_);
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_TRUE(folder->has_scores());
  EXPECT_EQ(folder->width(), 1);
  EXPECT_EQ(folder->config.score, Activation::kSigmoid);
  EXPECT_EQ(TensorText(Spec().outputs[1]), "scores:FP32[1]");
  EXPECT_EQ(FactsOf(*folder, {})[1].text, "scores of pairs, by the words yes and no");
  WriteLogitScore(R"({"true_token_id": 1, "false_token_id": 0})");
  EXPECT_EQ(Error(),
            "1_LogitScore/config.json: 'true_token_id' is not 9693; mpsd knows the words of "
            "Qwen3-Reranker");
}

TEST_F(ChatFolderTest, IsARerankerWhereItsNameOrTheTaskSaysSo) {
  EXPECT_THAT(Error(), HasSubstr("names a head for words"));
  EXPECT_TRUE(ReadEncoderFolder(folder_, ModelTask::kRerank).ok());
  for (const char* path : {"/My-Reranker-0.6B", "/models--Qwen--Qwen3-Reranker-4B/snapshots/1"}) {
    const std::string named = folder_ + path;
    std::filesystem::create_directories(named);
    std::filesystem::copy(folder_ + "/config.json", named + "/config.json");
    EXPECT_TRUE(ReadEncoderFolder(named).ok()) << path;
    EXPECT_TRUE(ReadEncoderFolder(named + "/").ok()) << path;
    EXPECT_FALSE(ReadEncoderFolder(named, ModelTask::kEmbedding).ok()) << path;
  }
}

TEST_F(ChatFolderTest, OfAnotherFamilyOrOfFewWordsIsRefused) {
  WriteLogitScore(R"({"true_token_id": 9693, "false_token_id": 2152})");
  WriteChat("qwen3", "Qwen3ForCausalLM", 9693);
  EXPECT_EQ(Error(), "config.json: 'vocab_size' has no room for Qwen 3's words");
  WriteChat("qwen3", "Qwen3Model", 9694);
  EXPECT_EQ(Error(), "config.json: mpsd compares the words of Qwen3ForCausalLM alone");
  WriteConfig(R"("architectures": ["BertForMaskedLM"])");
  EXPECT_EQ(Error(), "config.json: mpsd compares the words of Qwen3ForCausalLM alone");
}

TEST_F(EncoderFolderTest, AClassifierHasScoresAndNoPooling) {
  WriteConfig(R"("architectures": ["BertForSequenceClassification"], "id2label": {"0": "only"})");
  const ModelSpec spec = Spec();
  ASSERT_EQ(spec.outputs.size(), 2u);
  EXPECT_EQ(TensorText(spec.outputs[0]), "logits:FP32[1]");
  EXPECT_EQ(TensorText(spec.outputs[1]), "scores:FP32[1]");
  WriteSteps("");
  EXPECT_THAT(Error(), HasSubstr("a pooling beside a classifier's head"));
}

// A folder whose config.json says nothing of labels.
class UntoldLabelsTest : public EncoderFolderTest {
 protected:
  UntoldLabelsTest() { WriteConfig(R"("architectures": ["BertForSequenceClassification"])"); }

  void WriteWeight(const std::string& name, int rows) const {
    const std::string header = absl::StrCat(R"({")", name, R"(": {"dtype": "F16", "shape": [)",
                                            rows, R"(, 1], "data_offsets": [0, )", 2 * rows, "]}}");
    Write("model.safetensors",
          BytesOf<uint64_t>(header.size()) + header + std::string(2 * rows, '\0'));
  }
  int64_t Labels(ModelTask task = ModelTask::kAuto) const {
    return ReadFolderAndWeights(folder_, task)->width();
  }
};

TEST_F(UntoldLabelsTest, AreThoseOfTheWeights) {
  WriteWeight("classifier.weight", 1);
  EXPECT_EQ(Labels(), 1);
  EXPECT_EQ(ReadFolderAndWeights(folder_)->config.score, Activation::kSigmoid);
  EXPECT_EQ(ReadEncoderFolder(folder_)->width(), 2) << "the weights were not asked";
  WriteWeight("classifier.weight", 3);
  EXPECT_EQ(Labels(), 3);
  EXPECT_EQ(Labels(ModelTask::kRerank), 3);
  EXPECT_EQ(ReadFolderAndWeights(folder_)->config.score, Activation::kSoftmax);
}

TEST_F(UntoldLabelsTest, AreTheUsualOnesIfTheWeightsDoNotTell) {
  EXPECT_EQ(Labels(), 2);
  EXPECT_EQ(Labels(ModelTask::kRerank), 1);
  WriteWeight("classifier.bias", 3);
  EXPECT_EQ(Labels(), 2);
  WriteWeight("classifier.weight", 10'001);
  EXPECT_EQ(Labels(), 2) << "more than there may be";
  const std::string named = folder_ + "/models--A--my-Reranker/snapshots/1";
  std::filesystem::create_directories(named);
  std::filesystem::copy(folder_ + "/config.json", named + "/config.json");
  EXPECT_EQ(ReadFolderAndWeights(named)->width(), 1);
}

TEST_F(UntoldLabelsTest, AreNotAskedForIfTheConfigTells) {
  WriteConfig(R"("architectures": ["BertForSequenceClassification"], "num_labels": 4)");
  WriteWeight("classifier.weight", 3);
  EXPECT_EQ(Labels(), 4);
}

TEST_F(EncoderFolderTest, ARerankerOfSentenceTransformers) {
  Write("modules.json", R"([{"type": "s.Transformer", "path": ""}])");
  EXPECT_THAT(Error(), HasSubstr("modules.json: there is no Pooling"));
  WriteConfig(R"("architectures": ["BertForSequenceClassification"], "id2label": {"0": "only"})");
  EXPECT_EQ(ReadEncoderFolder(folder_)->config.score, Activation::kSigmoid);
  Write("config_sentence_transformers.json", R"({"activation_fn": "torch.nn.Identity"})");
  EXPECT_EQ(ReadEncoderFolder(folder_)->config.score, Activation::kIdentity);
  Write("config_sentence_transformers.json", R"({"activation_fn": "a.Mish"})");
  EXPECT_THAT(Error(), HasSubstr("config_sentence_transformers.json: the activation 'a.Mish'"));
  WriteConfig(R"("architectures": ["BertModel"])");
  WriteSteps("");
  EXPECT_EQ(Error(), "it was read");
}

TEST_F(EncoderFolderTest, TakesTheFirstOfTheFilesThatSayTheLength) {
  EXPECT_EQ(TokensFact(), "at most 40 a row, as config.json says");
  Write("tokenizer_config.json", R"({"model_max_length": 30})");
  EXPECT_EQ(TokensFact(), "at most 30 a row, as tokenizer_config.json says");
  Write("sentence_xlnet_config.json", R"({"max_seq_length": 10})");
  EXPECT_EQ(TokensFact(), "at most 10 a row, as sentence_xlnet_config.json says");
  Write("sentence_roberta_config.json", R"({"max_seq_length": 35})");
  EXPECT_EQ(TokensFact(), "at most 35 a row, as sentence_roberta_config.json says");
  Write("sentence_bert_config.json", R"({"max_seq_length": null})");
  EXPECT_EQ(TokensFact(), "at most 30 a row, as tokenizer_config.json says");
  Write("tokenizer_config.json", R"({"model_max_length": 41})");
  EXPECT_EQ(TokensFact(), "at most 40 a row, as config.json says");
  Write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(TokensFact(), "at most 40 a row, as config.json says");
  Write("sentence_bert_config.json", R"({"max_seq_length": 0})");
  EXPECT_THAT(Error(), HasSubstr("sentence_bert_config.json: 'max_seq_length' must be"));
}

TEST_F(EncoderFolderTest, ABucketBeyondThePositionsIsRefused) {
  LoadOrder order;
  order.spec.pad.push_back({"input_ids", 0, {8, 40}});
  EXPECT_EQ(Spec(order).pad, order.spec.pad);
  order.spec.pad[0].buckets.push_back(41);
  EXPECT_EQ(EncoderSpec(order, ReadEncoderFolder(folder_).value()).status().message(),
            "its padding has a bucket of 41 tokens, but the model has 40 positions");
}

TEST_F(EncoderFolderTest, TheLongestRowThatIsToldIsThatOfThePadding) {
  WriteConfig(R"("architectures": ["BertModel"], "max_position_embeddings": 20000)");
  EXPECT_EQ(TokensFact(), "at most 8192 a row of the model's 20000, unless its padding says more");
  LoadOrder order;
  order.spec.pad.push_back({"input_ids", 0, {8, 16384}});
  EXPECT_EQ(TokensFact(order), "at most 16384 a row, as its padding says");
  order.spec.pad.push_back({"attention_mask", 0, {100}});
  EXPECT_EQ(TokensFact(order), "at most 100 a row, as its padding says");
}

TEST_F(EncoderFolderTest, BucketsEndWithTheLongestRow) {
  const ModelSpec spec = Spec();
  EXPECT_EQ(spec.max_batch_size, 32u);
  ASSERT_EQ(spec.pad.size(), 3u);
  EXPECT_THAT(spec.pad[0].buckets, ElementsAre(16, 32, 40));
  EXPECT_EQ(spec.pad[2].input, "token_type_ids");
  EXPECT_TRUE(spec.inputs[2].optional);
}

TEST_F(EncoderFolderTest, TheOrderMaySayPaddingAndBatchSize) {
  LoadOrder order;
  order.spec.max_batch_size = 5;
  order.spec.pad.push_back({"input_ids", 0, {8}});
  const ModelSpec spec = Spec(order);
  EXPECT_EQ(spec.max_batch_size, 5u);
  EXPECT_EQ(spec.pad, order.spec.pad);
  order.spec.inputs.push_back({"input_ids", DataType::kInt64, {-1}});
  EXPECT_FALSE(EncoderSpec(order, ReadEncoderFolder(folder_).value()).ok());
}

}  // namespace
}  // namespace mpsd
