// SentenceConfig: what follows the encoder in a folder of sentence-transformers.
//
// Such a folder lists its steps in modules.json: the encoder, then Pooling, whose settings stand in
// 1_Pooling/config.json, then Dense and Normalize in any order:
//
//   [{"type": "….Transformer", "path": ""}, {"type": "….Pooling", "path": "1_Pooling"},
//    {"type": "….Dense", "path": "2_Dense"}, {"type": "….Normalize", "path": "3_Normalize"}]
//
// The list of a reranker has the encoder alone.
//
// Parsing is pure and knows no files; EncoderFolder reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// How the vectors of a row's tokens become the row's vector: their mean, the first, the last, or
// the largest number in each place. Tokens that the mask leaves out do not count.
enum class Pooling { kMean, kFirst, kLast, kMax };

// A step of modules.json behind the encoder.
struct SentenceStep {
  enum Kind { kPooling, kDense, kNormalize };
  Kind kind = kPooling;
  std::string folder;  // with its files: "1_Pooling"; a folder directly in the model's
};

// A linear map of the pooled vector, with its activation.
struct DenseConfig {
  std::string folder;
  int64_t from = 0;  // in_features
  int64_t to = 0;    // out_features
  bool has_bias = true;
  Activation activation = Activation::kTanh;  // activation_function
};

// The steps of a modules.json whose text is `json`, without the encoder, which must be the first;
// Pooling must be the second, if any is there. INVALID_ARGUMENT names a step that is another. Pure.
absl::StatusOr<std::vector<SentenceStep>> ParseSentenceSteps(absl::string_view json);

// The pooling of a 1_Pooling/config.json whose text is `json`. INVALID_ARGUMENT names the modes
// where they are others than one of the four. Pure.
absl::StatusOr<Pooling> ParsePooling(absl::string_view json);

// activation_fn of a config_sentence_transformers.json whose text is `json`: what makes scores of
// a reranker's logits. Nothing where it says none. INVALID_ARGUMENT names one that is not known.
// Pure.
absl::StatusOr<std::optional<Activation>> ParseScoreActivation(absl::string_view json);

// The Dense step of a 2_Dense/config.json whose text is `json`, without its folder.
// INVALID_ARGUMENT names the key at fault. Pure.
absl::StatusOr<DenseConfig> ParseDense(absl::string_view json);

// max_seq_length of a sentence_bert_config.json whose text is `json`: tokens of a row at most. 0
// where it says none. INVALID_ARGUMENT when it is no whole number above 0. Pure.
absl::StatusOr<int64_t> ParseMaxTokens(absl::string_view json);

// model_max_length of a tokenizer_config.json whose text is `json`. 0 where it says none: the key
// is missing, or so large that it means "no bound", as tools write it. INVALID_ARGUMENT when the
// text is no JSON object. Pure.
absl::StatusOr<int64_t> ParseTokenizerMaxTokens(absl::string_view json);

// "mean", "cls", "lasttoken", "max": sentence-transformers' words.
absl::string_view NameOf(Pooling pooling);

}  // namespace mpsd
