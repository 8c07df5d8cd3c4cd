#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/model/collecting_sink.h"
#include "worker/load/load_model.h"
#include "worker/model/model.h"
#include "worker/tools/bert_config.h"
#include "worker/tools/bert_module.h"

namespace mpsd {
namespace {

constexpr char kConfig[] =
    R"({"model_type": "bert", "hidden_act": "gelu", "hidden_size": 4, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 10,
        "max_position_embeddings": 40, "type_vocab_size": 2, "layer_norm_eps": 1e-12})";

// The tensors of a model of that config; element i is 0.01 times i.
class TinyBert {
 public:
  explicit TinyBert(const std::string& prefix) {
    Add(prefix + "embeddings.word_embeddings.weight", {10, 4});
    Add(prefix + "embeddings.position_embeddings.weight", {40, 4});
    Add(prefix + "embeddings.token_type_embeddings.weight", {2, 4});
    const std::string layer = prefix + "encoder.layer.0.";
    for (const char* name : {"query", "key", "value"}) {
      Linear(layer + "attention.self." + name, 4, 4);
    }
    Linear(layer + "attention.output.dense", 4, 4);
    Linear(layer + "intermediate.dense", 4, 8);
    Linear(layer + "output.dense", 8, 4);
    for (const std::string& name :
         {prefix + "embeddings.LayerNorm", layer + "attention.output.LayerNorm",
          layer + "output.LayerNorm"}) {
      Add(name + ".weight", {4});
      Add(name + ".bias", {4});
    }
  }

  Safetensors views;

 private:
  void Add(const std::string& name, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t dim : shape) count *= dim;
    std::vector<float>& values = values_[name];
    for (int64_t i = 0; i < count; ++i) values.push_back(0.01f * static_cast<float>(i % 7));
    views[name] = {"F32", std::move(shape),
                   absl::string_view(reinterpret_cast<const char*>(values.data()),
                                     values.size() * sizeof(float))};
  }
  void Linear(const std::string& name, int64_t from, int64_t to) {
    Add(name + ".weight", {to, from});
    Add(name + ".bias", {to});
  }

  std::map<std::string, std::vector<float>> values_;
};

class BertImport : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }

  absl::Status Write(const Safetensors& weights, BertPooling pooling = BertPooling::kMean) {
    return WriteBert(*ParseBertConfig(kConfig), pooling, weights, path_);
  }
  absl::StatusOr<std::unique_ptr<Model>> Load() {
    LoadOrder order;
    order.format = ModelFormat::kTorchScript;
    order.path = path_;
    order.device = "cpu";
    return LoadModel(order);
  }

  const std::string path_ = testing::TempDir() + "mpsd_bert_" + std::to_string(getpid()) + ".pt";
};

TEST_F(BertImport, KeepsBucketsWithinThePositions) {
  ASSERT_TRUE(Write(TinyBert("").views).ok());
  const auto model = Load();
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->spec().pad[0].buckets, (std::vector<int64_t>{16, 32}));
}

TEST_F(BertImport, PaddingChangesNothing) {
  ASSERT_TRUE(Write(TinyBert("bert.").views).ok());
  const auto model = Load();
  ASSERT_TRUE(model.ok()) << model.status();
  const auto run = [&](const std::vector<int64_t>& ids, const std::vector<int64_t>& mask) {
    const Dims dims = {1, static_cast<int64_t>(ids.size())};
    const InputTensor inputs[] = {InputOf(ids, DataType::kInt64, dims),
                                  InputOf(mask, DataType::kInt64, dims)};
    CollectingSink sink;
    EXPECT_TRUE((*model)->Run(0, inputs, 1, &sink).ok());
    return sink.Elements<float>(0);
  };
  const std::vector<float> alone = run({1, 2, 3}, {1, 1, 1});
  const std::vector<float> padded = run({1, 2, 3, 0, 0}, {1, 1, 1, 0, 0});
  double squares = 0;
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_NEAR(alone[i], padded[i], 1e-6);
    squares += static_cast<double>(alone[i]) * alone[i];
  }
  EXPECT_NEAR(squares, 1, 1e-5);
  for (const float value : run({1, 2}, {0, 0})) EXPECT_EQ(value, 0.0f);
}

// The mask keeps the last token alone, which is the whole mean.
TEST_F(BertImport, PoolsByTheFirstTokenWhereTheFolderSaysSo) {
  const auto run = [&](BertPooling pooling) {
    EXPECT_TRUE(Write(TinyBert("").views, pooling).ok());
    const auto model = Load();
    EXPECT_TRUE(model.ok()) << model.status();
    const std::vector<int64_t> ids = {1, 2, 3};
    const std::vector<int64_t> mask = {0, 0, 1};
    const InputTensor inputs[] = {InputOf(ids, DataType::kInt64, {1, 3}),
                                  InputOf(mask, DataType::kInt64, {1, 3})};
    CollectingSink sink;
    EXPECT_TRUE((*model)->Run(0, inputs, 1, &sink).ok());
    return sink.Elements<float>(0);
  };
  EXPECT_NE(run(BertPooling::kCls), run(BertPooling::kMean));
}

TEST_F(BertImport, LeavesThePoolerOut) {
  TinyBert bert("bert.");
  const SafetensorView bias = bert.views["bert.embeddings.LayerNorm.bias"];
  bert.views["bert.pooler.dense.bias"] = bias;
  EXPECT_TRUE(Write(bert.views).ok());
}

TEST_F(BertImport, NamesTheTensorOfAHead) {
  TinyBert bert("bert.");
  const SafetensorView bias = bert.views["bert.embeddings.LayerNorm.bias"];
  bert.views["classifier.bias"] = bias;
  EXPECT_EQ(Write(bert.views).message(),
            "the tensor 'classifier.bias' would be lost: it is part of a head or of a layer too "
            "many");
}

TEST_F(BertImport, NamesTheTensorThatIsMissing) {
  TinyBert bert("bert.");
  bert.views.erase("bert.encoder.layer.0.output.dense.bias");
  EXPECT_EQ(Write(bert.views).message(),
            "the tensor 'bert.encoder.layer.0.output.dense.bias' is missing");
}

TEST_F(BertImport, NamesTheTensorOfAWrongShape) {
  TinyBert bert("");
  bert.views["embeddings.LayerNorm.bias"].shape = {2, 2};
  EXPECT_EQ(Write(bert.views).message(),
            "the tensor 'embeddings.LayerNorm.bias' has the shape [2,2], not [4]");
}

TEST_F(BertImport, RefusesWeightsThatAreNoFloats) {
  TinyBert bert("");
  bert.views["embeddings.LayerNorm.bias"].dtype = "I32";
  EXPECT_EQ(Write(bert.views).message(),
            "the tensor 'embeddings.LayerNorm.bias' is of the dtype I32, which is no F32, F16 or "
            "BF16");
}

}  // namespace
}  // namespace mpsd
