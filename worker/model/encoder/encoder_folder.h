// EncoderFolder: what the small files of a model folder say, and the spec that follows from them.
//
//   config.json                  the encoder and its head               EncoderConfig
//   modules.json                 the steps behind the encoder, if any   SentenceStep
//   1_Pooling/config.json        how tokens become a vector             Pooling
//   1_LogitScore/config.json     which words are compared               CheckLogitScore
//   2_Dense/config.json          a linear map behind the pooling        DenseConfig
//   config_sentence_transformers.json
//                                how a reranker's logits become scores; without it, config.json
//   sentence_bert_config.json    how long a row of tokens may be; without it, model_max_length
//                                in tokenizer_config.json
//
//   files                      inputs                              outputs
//   an embedder                input_ids, attention_mask,          sentence_embedding
//   a classifier or reranker   token_type_ids (may be left out)    logits, scores
//
// Knows no libtorch. The files are untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/config/sentence_config.h"
#include "worker/model/encoder/weights/model_folder.h"
#include "worker/model/model.h"

namespace mpsd {

// Tokens of a row, if neither a file nor the order's padding says.
inline constexpr int64_t kUsualMaxTokens = 8192;

// A linear map, or a division by the vector's length.
struct SentenceTail {
  bool is_dense = false;  // true: linear map; false: division
  DenseConfig dense;
};

// Constant once read.
struct EncoderFolder {
  EncoderConfig config;
  Pooling pooling = Pooling::kMean;
  bool pooling_is_told = false;    // a file names the pooling
  std::vector<SentenceTail> tail;  // an embedder's steps, in order
  int64_t max_tokens = 0;          // longest row, unless the order pads otherwise
  std::string max_tokens_file;     // file that sets max_tokens; empty: kUsualMaxTokens holds

  bool is_classifier() const { return config.head == HeadKind::kClassifier; }

  // Answers are scores, not vectors.
  bool has_scores() const { return is_classifier() || config.head == HeadKind::kYesOrNo; }

  // An answer has so many numbers: those of the embedding, or one for each label.
  int64_t width() const;
};

// Without modules.json a folder pools by the mean and does not normalize.
//
// Qwen3-Reranker was published without modules.json, as a chat model. Such a folder is a reranker
// if `task` says so, or if its name or the model's at the hub has the word "reranker".
//
// A classifier whose config.json tells no number of labels has `labels`. If that is 0, a reranker
// by name or task has one, any other two.
//
// INVALID_ARGUMENT names the file and its fault. NOT_FOUND and PERMISSION_DENIED name a file.
absl::StatusOr<EncoderFolder> ReadEncoderFolder(const ModelFolder& source,
                                                ModelTask task = ModelTask::kAuto,
                                                int64_t labels = 0);

// The weights tell the number of labels where config.json does not. Faults of weights are ignored:
// loading meets them.
absl::StatusOr<EncoderFolder> ReadFolderAndWeights(const ModelFolder& source,
                                                   ModelTask task = ModelTask::kAuto);

// Rows of tokens, padded to 16, 32, 64, … up to the longest row, at most 32 a batch, unless the
// order says otherwise. INVALID_ARGUMENT if the order gives inputs, outputs, or a bucket beyond the
// model's positions. Pure.
absl::StatusOr<ModelSpec> EncoderSpec(const LoadOrder& order, const EncoderFolder& folder);

// For people. Pure.
std::vector<ModelFact> FactsOf(const EncoderFolder& folder, const ModelSpec& spec);

}  // namespace mpsd
