#include "worker/model/encoder/encoder_head.h"

#include <limits>
#include <optional>
#include <utility>

#include "ATen/TensorOperators.h"
#include "ATen/ops/cat.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/segment_reduce.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "worker/model/encoder/encoder_names.h"
#include "worker/model/encoder/weights/weight_files.h"

namespace mpsd {
namespace {

constexpr double kShortest = 1e-12;  // shorter vectors are divided by this

// A counting token gets 1, another one 0, [rows, length, 1]; undefined if all count.
at::Tensor KeptOf(const TokenBatch& batch, const TokenRun& run, c10::Device device) {
  if (batch.kept.empty()) return {};
  const char* kept = batch.kept.data() + run.first;
  return at::from_blob(const_cast<char*>(kept), {run.rows, run.length, 1}, at::kChar)
      .to(at::kFloat)
      .to(device);
}

at::Tensor MeanOfRun(const at::Tensor& run, const at::Tensor& kept) {
  if (!kept.defined()) return run.sum({1}, /*keepdim=*/false).div_(run.size(1));
  return (run * kept).sum({1}, /*keepdim=*/false) / kept.sum({1}, /*keepdim=*/false);
}

at::Tensor LargestOfRun(const at::Tensor& run, const at::Tensor& kept) {
  if (!kept.defined()) return run.amax(1);
  return run.masked_fill(kept == 0, -std::numeric_limits<float>::infinity()).amax(1);
}

// The result is in the request's order. `reduce` takes a run's [rows, length, hidden]. Takes as
// much memory as the tokens.
at::Tensor OfEachRow(const at::Tensor& tokens, const DeviceBatch& batch,
                     at::Tensor (*reduce)(const at::Tensor& run, const at::Tensor& kept)) {
  std::vector<at::Tensor> runs;
  for (const TokenRun& run : batch.host().runs) {
    const at::Tensor of_run = tokens.narrow(0, run.first, run.rows * run.length)
                                  .view({run.rows, run.length, tokens.size(1)});
    runs.push_back(reduce(of_run, KeptOf(batch.host(), run, tokens.device())));
  }
  return at::cat(runs).index_select(0, batch.places());
}

// Needs one call, for devices on which a call is a launch.
at::Tensor OfEachRowAtOnce(const at::Tensor& tokens, const DeviceBatch& batch, const char* reduce) {
  return at::segment_reduce(tokens, reduce, /*lengths=*/std::nullopt, /*indices=*/std::nullopt,
                            batch.starts(), /*axis=*/0, /*unsafe=*/true)
      .index_select(0, batch.places());
}

at::Tensor Pool(Pooling pooling, const at::Tensor& tokens, const DeviceBatch& batch) {
  const bool at_once = batch.is_ragged();
  switch (pooling) {
    case Pooling::kMean:
      return at_once ? OfEachRowAtOnce(tokens, batch, "mean") : OfEachRow(tokens, batch, MeanOfRun);
    case Pooling::kFirst:
      return tokens.index_select(0, batch.firsts());
    case Pooling::kLast:
      return tokens.index_select(0, batch.lasts());
    case Pooling::kMax:
      return at_once ? OfEachRowAtOnce(tokens, batch, "max")
                     : OfEachRow(tokens, batch, LargestOfRun);
  }
  return tokens;
}

at::Tensor Normalized(const at::Tensor& x) {
  return x / (x * x).sum({1}, /*keepdim=*/true).sqrt().clamp_min(kShortest);
}

void ClearEmpty(const TokenBatch& batch, const at::Tensor& x) {
  for (size_t row = 0; row < batch.rows.size(); ++row) {
    if (batch.rows[row].is_empty) x[static_cast<int64_t>(row)].zero_();
  }
}

Activation HeadActivation(const EncoderConfig& config) {
  if (config.family == EncoderFamily::kDistilBert) return Activation::kRelu;
  if (config.family == EncoderFamily::kModernBert) return config.rotary.head_activation;
  return Activation::kTanh;
}

absl::StatusOr<Linear> LoadDense(const ModelFolder& source, const DenseConfig& config,
                                 c10::Device device) {
  const absl::StatusOr<WeightFiles> files = WeightFiles::Open(source.Inner(config.folder));
  absl::Status status = files.status();
  Linear dense;
  if (files.ok()) {
    EncoderWeights weights(files->tensors(), "", device);
    dense =
        Linear::Take(&weights, "linear", config.from, config.to, /*whole=*/true, config.has_bias);
    status = weights.Finish();
  }
  if (status.ok()) return dense;
  return absl::Status(status.code(), absl::StrCat(config.folder, ": ", status.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<EncoderHead>> SentenceHead::Load(const ModelFolder& source,
                                                                const EncoderFolder& folder,
                                                                EncoderWeights* weights,
                                                                c10::Device device) {
  std::unique_ptr<SentenceHead> head(new SentenceHead(folder.pooling));
  for (const SentenceTail& tail : folder.tail) {
    Step step;
    step.is_dense = tail.is_dense;
    if (tail.is_dense) {
      absl::StatusOr<Linear> dense = LoadDense(source, tail.dense, device);
      if (!dense.ok()) return dense.status();
      step.dense = *std::move(dense);
      step.activation = tail.dense.activation;
    }
    head->steps_.push_back(std::move(step));
  }
  weights->Ignore("pooler.");
  if (folder.config.head == HeadKind::kTraining) {
    for (const char* name : {"lm_head.", "cls.", "vocab_transform.", "vocab_layer_norm.",
                             "vocab_projector.", "head.", "decoder."}) {
      weights->IgnoreWhole(name);
    }
    // GTE folders name a second head, for token weights.
    if (folder.config.family == EncoderFamily::kNewGte) weights->IgnoreWhole("classifier.");
  }
  return head;
}

std::vector<at::Tensor> SentenceHead::Run(at::Tensor tokens, const DeviceBatch& batch) const {
  at::Tensor x = Pool(pooling_, tokens, batch);
  ClearEmpty(batch.host(), x);
  for (const Step& step : steps_) {
    x = step.is_dense ? Activate(step.activation, step.dense(x)) : Normalized(x);
  }
  ClearEmpty(batch.host(), x);
  return {x};
}

ClassifierHead::ClassifierHead(const EncoderConfig& config, EncoderWeights* weights)
    : activation_(HeadActivation(config)),
      score_(config.score),
      pooling_(config.rotary.head_is_mean ? Pooling::kMean : Pooling::kFirst) {
  const EncoderNames& names = NamesOf(config.family);
  const bool is_modern = config.family == EncoderFamily::kModernBert;
  const bool in_encoder = absl::StartsWith(names.head_dense, "pooler");
  const auto labels = static_cast<int64_t>(config.labels.size());
  dense_ = Linear::Take(weights, names.head_dense, config.hidden_size, config.hidden_size,
                        /*whole=*/!in_encoder, !is_modern || config.rotary.has_head_bias);
  if (is_modern) {
    norm_ = Norm::Take(weights, "head.norm", config.hidden_size, config.layer_norm_epsilon,
                       /*whole=*/true, config.rotary.has_norm_bias);
  }
  output_ = Linear::Take(weights, names.head_output, config.hidden_size, labels, /*whole=*/true);
}

std::vector<at::Tensor> ClassifierHead::Run(at::Tensor tokens, const DeviceBatch& batch) const {
  at::Tensor x = Activate(activation_, dense_(Pool(pooling_, tokens, batch)));
  if (norm_.has_value()) x = (*norm_)(x);
  const at::Tensor logits = output_(x);
  return {logits, Activate(score_, logits.clone())};
}

YesOrNoHead::YesOrNoHead(const EncoderConfig& config, EncoderWeights* weights)
    : score_(config.score) {
  const bool ties = config.decoder.ties_words;
  const auto take = [&](int64_t token) {
    return weights->TakeRow(ties ? "embed_tokens.weight" : "lm_head.weight",
                            {config.vocabulary_size, config.hidden_size}, token, /*whole=*/!ties);
  };
  const at::Tensor yes = take(kYesToken);
  const at::Tensor no = take(kNoToken);
  if (ties) weights->IgnoreWhole("lm_head.weight");  // the same numbers again
  if (weights->ok()) difference_ = (yes - no).unsqueeze(1);
}

std::vector<at::Tensor> YesOrNoHead::Run(at::Tensor tokens, const DeviceBatch& batch) const {
  const at::Tensor logits = Pool(Pooling::kLast, tokens, batch).matmul(difference_);
  return {logits, Activate(score_, logits.clone())};
}

}  // namespace mpsd
