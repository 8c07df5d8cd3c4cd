// EncoderFolder: what the small files of a model folder say, and the spec that follows from them.
//
//   config.json                  the encoder and its head               EncoderConfig
//   modules.json                 the steps behind it, if any            SentenceStep
//   1_Pooling/config.json        how tokens become a vector             Pooling
//   2_Dense/config.json          a linear map behind that               DenseConfig
//   config_sentence_transformers.json
//                                what makes scores of a reranker's logits; else config.json says it
//   sentence_bert_config.json    how long a row of tokens may be; else model_max_length
//                                in tokenizer_config.json says it
//
//   files                      inputs                              outputs
//   an embedder                input_ids, attention_mask,          sentence_embedding
//   a classifier or reranker   token_type_ids (may be left out)    logits, scores
//
// Knows no libtorch, so it is tested without one. The files are untrusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"
#include "worker/model/encoder/config/encoder_config.h"
#include "worker/model/encoder/config/sentence_config.h"
#include "worker/model/model.h"

namespace mpsd {

// The tokens of a row at most where neither a file nor the order's padding says how many.
inline constexpr int64_t kUsualMaxTokens = 8192;

// A linear map or a division by the length, behind the pooling.
struct SentenceTail {
  bool is_dense = false;  // else it normalizes
  DenseConfig dense;
};

// Plain data, constant once read.
struct EncoderFolder {
  EncoderConfig config;
  Pooling pooling = Pooling::kMean;  // of an embedder
  bool pooling_is_told = false;      // by a file; else the mean is the default
  std::vector<SentenceTail> tail;    // of an embedder, in their order
  int64_t max_tokens = 0;            // of a row, where no other padding is ordered
  std::string max_tokens_file;       // that says so; empty: no file does, and kUsualMaxTokens holds

  bool is_classifier() const { return config.head == HeadKind::kClassifier; }

  // The numbers of an answer: of the embedding, or one a label.
  int64_t width() const;
};

// Reads the files of `folder`. A folder without modules.json is pooled by the mean, and not
// normalized. INVALID_ARGUMENT names the file, and in it what is missing, malformed or not known;
// NOT_FOUND and PERMISSION_DENIED name a file that is not there or cannot be read.
absl::StatusOr<EncoderFolder> ReadEncoderFolder(const std::string& folder);

// The spec of such a folder: rows of tokens, padded to 16, 32, 64, … up to the longest row, at most
// 32 rows a batch. The order may say other padding or another batch size. INVALID_ARGUMENT where it
// says inputs or outputs, which the folder's are already, or a bucket beyond the model's positions.
// Pure.
absl::StatusOr<ModelSpec> EncoderSpec(const LoadOrder& order, const EncoderFolder& folder);

// The facts of such a folder, for people: its family, task, pooling, sizes, words, and how long a
// row may be by the padding of its spec, with the file that says so. Pure.
std::vector<ModelFact> FactsOf(const EncoderFolder& folder, const ModelSpec& spec);

}  // namespace mpsd
