#include "worker/tools/bert_module.h"

#include <cstring>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/empty.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "nlohmann/json.hpp"
#include "proto/link/model_spec.h"
#include "torch/csrc/jit/api/module.h"
#include "worker/model/foreign_errors.h"

namespace mpsd {
namespace {

constexpr uint32_t kBertMaxBatch = 32;
constexpr int64_t kBuckets[] = {16, 32, 64, 128, 256};

// Takes weights by name as float tensors of a wanted shape, and remembers the first fault.
class Weights {
 public:
  explicit Weights(const Safetensors& source) : source_(source) {
    for (const auto& entry : source) {
      if (absl::StartsWith(entry.first, "bert.")) prefix_ = "bert.";
    }
  }

  // Returns a tensor without data after a fault.
  at::Tensor Take(const std::string& name, const std::vector<int64_t>& shape) {
    const auto found = source_.find(prefix_ + name);
    taken_.insert(prefix_ + name);
    if (found == source_.end()) return Fail(shape, name, "is missing");
    const SafetensorView& view = found->second;
    if (view.shape != shape) {
      return Fail(shape, name,
                  absl::StrCat("has the shape [", absl::StrJoin(view.shape, ","), "], not [",
                               absl::StrJoin(shape, ","), "]"));
    }
    const std::optional<at::ScalarType> type = TypeOf(view.dtype);
    if (!type.has_value())
      return Fail(shape, name,
                  absl::StrCat("is of the dtype ", view.dtype, ", which is no F32, F16 or BF16"));
    const at::Tensor tensor = at::empty(shape, at::TensorOptions(*type));
    std::memcpy(tensor.mutable_data_ptr(), view.bytes.data(), view.bytes.size());
    return tensor.to(at::kFloat);
  }

  // A fault where a tensor is left that is part of no encoder.
  void ExpectNoOther() {
    for (const auto& entry : source_) {
      const std::string& name = entry.first;
      if (taken_.count(name) > 0 || IsUnused(name)) continue;
      status_.Update(absl::InvalidArgumentError(absl::StrCat(
          "the tensor '", name, "' would be lost: it is part of a head or of a layer too many")));
    }
  }

  const absl::Status& status() const { return status_; }

 private:
  // The first of the three holds the numbers 0, 1, 2, …
  bool IsUnused(absl::string_view name) const {
    return absl::ConsumePrefix(&name, prefix_) &&
           (name == "embeddings.position_ids" || name == "pooler.dense.weight" ||
            name == "pooler.dense.bias");
  }

  static std::optional<at::ScalarType> TypeOf(absl::string_view dtype) {
    if (dtype == "F32") return at::kFloat;
    if (dtype == "F16") return at::kHalf;
    if (dtype == "BF16") return at::kBFloat16;
    return std::nullopt;
  }

  at::Tensor Fail(const std::vector<int64_t>& shape, const std::string& name,
                  absl::string_view what) {
    status_.Update(
        absl::InvalidArgumentError(absl::StrCat("the tensor '", prefix_, name, "' ", what)));
    // Its content is never used; its strides make one element serve for all.
    return at::empty({1}).expand(shape);
  }

  const Safetensors& source_;
  std::string prefix_;
  std::set<std::string> taken_;
  absl::Status status_;
};

class BertWriter {
 public:
  BertWriter(const BertConfig& config, BertPooling pooling, const Safetensors& weights)
      : config_(config), pooling_(pooling), weights_(weights), module_("Bert") {}

  absl::Status Write(const std::string& path) {
    Embeddings();
    for (int64_t layer = 0; layer < config_.layer_count && weights_.status().ok(); ++layer) {
      Layer(layer);
    }
    Pooling();
    weights_.ExpectNoOther();
    if (!weights_.status().ok()) return weights_.status();
    module_.define(absl::StrCat(
        "def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Dict[str, Tensor]:\n",
        body_));
    module_.save(path, {{"mpsd.json", ToJson(Spec()).dump()}});
    return absl::OkStatus();
  }

 private:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&body_, "    ", parts..., "\n");
  }
  void Add(const std::string& name, const at::Tensor& tensor) {
    if (weights_.status().ok()) module_.register_parameter(name, tensor, /*is_buffer=*/false);
  }
  std::string Norm(const std::string& name, const std::string& source) {
    Add(name + "_w", weights_.Take(source + ".weight", {config_.hidden_size}));
    Add(name + "_b", weights_.Take(source + ".bias", {config_.hidden_size}));
    return absl::StrCat("[", config_.hidden_size, "], self.", name, "_w, self.", name, "_b, ",
                        nlohmann::json(config_.layer_norm_epsilon).dump());
  }
  std::string Linear(const std::string& name, const std::string& source, int64_t from, int64_t to) {
    Add(name + "_w", weights_.Take(source + ".weight", {to, from}));
    Add(name + "_b", weights_.Take(source + ".bias", {to}));
    return absl::StrCat("self.", name, "_w, self.", name, "_b");
  }

  void Embeddings();
  void Layer(int64_t layer);
  void Attention(const std::string& name, const std::string& source);
  void Pooling();
  ModelSpec Spec() const;

  const BertConfig config_;
  const BertPooling pooling_;
  Weights weights_;
  torch::jit::Module module_;
  std::string body_;
};

// All tokens are of type 0, so that type's embedding is added to the positions' once, here. The
// mask becomes a large but finite bias, so that a row without tokens gives no NaN.
void BertWriter::Embeddings() {
  const int64_t hidden = config_.hidden_size;
  Add("words",
      weights_.Take("embeddings.word_embeddings.weight", {config_.vocabulary_size, hidden}));
  const at::Tensor positions =
      weights_.Take("embeddings.position_embeddings.weight", {config_.position_count, hidden});
  const at::Tensor types =
      weights_.Take("embeddings.token_type_embeddings.weight", {config_.token_type_count, hidden});
  if (weights_.status().ok()) Add("positions", positions + types[0]);
  Line("batch = input_ids.size(0)");
  Line("length = input_ids.size(1)");
  Line("kept = attention_mask.type_as(self.positions)");
  Line("bias = ((kept - 1.0) * 1e30).view(batch, 1, 1, length)");
  Line("x = torch.embedding(self.words, input_ids) + self.positions[:length]");
  const std::string norm = Norm("embedding_norm", "embeddings.LayerNorm");
  Line("x = torch.layer_norm(x, ", norm, ")");
}

void BertWriter::Layer(int64_t layer) {
  const std::string name = absl::StrCat("layer", layer);
  const std::string source = absl::StrCat("encoder.layer.", layer);
  const int64_t hidden = config_.hidden_size;
  Attention(name, source + ".attention.self");
  const std::string output =
      Linear(name + "_attention", source + ".attention.output.dense", hidden, hidden);
  const std::string attention_norm =
      Norm(name + "_attention_norm", source + ".attention.output.LayerNorm");
  Line("x = torch.layer_norm(x + torch.linear(y, ", output, "), ", attention_norm, ")");
  const std::string up =
      Linear(name + "_up", source + ".intermediate.dense", hidden, config_.intermediate_size);
  const std::string down =
      Linear(name + "_down", source + ".output.dense", config_.intermediate_size, hidden);
  const std::string output_norm = Norm(name + "_output_norm", source + ".output.LayerNorm");
  Line("y = torch.linear(torch.gelu(torch.linear(x, ", up, ")), ", down, ")");
  Line("x = torch.layer_norm(x + y, ", output_norm, ")");
}

// The three projections become one matrix.
void BertWriter::Attention(const std::string& name, const std::string& source) {
  const int64_t hidden = config_.hidden_size;
  const int64_t heads = config_.head_count;
  std::vector<at::Tensor> matrices;
  std::vector<at::Tensor> biases;
  for (const char* part : {".query", ".key", ".value"}) {
    matrices.push_back(weights_.Take(absl::StrCat(source, part, ".weight"), {hidden, hidden}));
    biases.push_back(weights_.Take(absl::StrCat(source, part, ".bias"), {hidden}));
  }
  if (!weights_.status().ok()) return;
  Add(name + "_qkv_w", at::cat(matrices));
  Add(name + "_qkv_b", at::cat(biases));
  Line("qkv = torch.linear(x, self.", name, "_qkv_w, self.", name, "_qkv_b)");
  Line("q, k, v = torch.unbind(qkv.view(batch, length, 3, ", heads, ", ", hidden / heads,
       ").permute(2, 0, 3, 1, 4))");
  Line("y = torch.scaled_dot_product_attention(q, k, v, bias)");
  Line("y = y.transpose(1, 2).reshape(batch, length, ", hidden, ")");
}

void BertWriter::Pooling() {
  if (pooling_ == BertPooling::kCls) {
    Line("pooled = torch.select(x, 1, 0)");
  } else {
    Line("count = torch.clamp_min(kept.sum([1], True), 1e-9)");
    Line("pooled = torch.bmm(kept.unsqueeze(1), x).squeeze(1) / count");
  }
  Line("norm = torch.clamp_min(torch.sqrt((pooled * pooled).sum([1], True)), 1e-12)");
  Line("return {\"sentence_embedding\": pooled / norm}");
}

ModelSpec BertWriter::Spec() const {
  std::vector<int64_t> buckets;
  for (const int64_t bucket : kBuckets) {
    if (bucket <= config_.position_count) buckets.push_back(bucket);
  }
  if (buckets.empty()) buckets.push_back(config_.position_count);
  ModelSpec spec;
  spec.max_batch_size = kBertMaxBatch;
  for (const char* name : {"input_ids", "attention_mask"}) {
    spec.inputs.push_back({name, DataType::kInt64, {-1}});
    PadRule rule;
    rule.input = name;
    rule.buckets = buckets;
    spec.pad.push_back(std::move(rule));
  }
  spec.outputs = {{"sentence_embedding", DataType::kFp32, {config_.hidden_size}}};
  return spec;
}

}  // namespace

absl::Status WriteBert(const BertConfig& config, BertPooling pooling, const Safetensors& weights,
                       const std::string& path) {
  return CatchForeign(
      [&] { return BertWriter(config, pooling, weights).Write(path); },
      [&](absl::string_view what) {
        return absl::UnknownError(absl::StrCat("cannot write ", path, ": ", MeaningfulLine(what)));
      });
}

}  // namespace mpsd
