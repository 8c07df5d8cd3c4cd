// SentenceConfig: the steps behind the encoder in a folder of sentence-transformers.
//
// Such a folder lists its steps in modules.json: the encoder, then Pooling, whose settings are in
// 1_Pooling/config.json, then Dense and Normalize in any order:
//
//   [{"type": "….Transformer", "path": ""}, {"type": "….Pooling", "path": "1_Pooling"},
//    {"type": "….Dense", "path": "2_Dense"}, {"type": "….Normalize", "path": "3_Normalize"}]
//
// A reranker's list has only the encoder. If the reranker was a chat model, its list also has
// LogitScore, whose settings name two words.
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

// The words whose logits Qwen3-Reranker compares, as token ids of Qwen 3.
inline constexpr int64_t kYesToken = 9693;
inline constexpr int64_t kNoToken = 2152;

// A step of modules.json behind the encoder.
struct SentenceStep {
  enum Kind { kPooling, kDense, kNormalize, kLogitScore };
  Kind kind = kPooling;
  std::string folder;  // folder with the step's files: "1_Pooling"; directly in the model's folder
};

// A linear map of the pooled vector, with its activation.
struct DenseConfig {
  std::string folder;
  int64_t from = 0;  // in_features
  int64_t to = 0;    // out_features
  bool has_bias = true;
  Activation activation = Activation::kTanh;  // activation_function
};

// The steps in `json`, the text of a modules.json, without the encoder. The encoder must be first,
// and Pooling, if any step follows, second. LogitScore stands alone behind the encoder.
// INVALID_ARGUMENT names a step in the wrong place. Pure.
absl::StatusOr<std::vector<SentenceStep>> ParseSentenceSteps(absl::string_view json);

// The pooling in `json`, the text of a 1_Pooling/config.json. INVALID_ARGUMENT names the modes
// unless they are one of the four. Pure.
absl::StatusOr<Pooling> ParsePooling(absl::string_view json);

// Checks `json`, the text of a 1_LogitScore/config.json. INVALID_ARGUMENT unless it names the words
// that Qwen3-Reranker compares: for others, pairs would need other texts around them. Pure.
absl::Status CheckLogitScore(absl::string_view json);

// activation_fn in `json`, the text of a config_sentence_transformers.json: it turns a reranker's
// logits into scores. Nothing if the file names none. INVALID_ARGUMENT names an unknown one. Pure.
absl::StatusOr<std::optional<Activation>> ParseScoreActivation(absl::string_view json);

// The Dense step in `json`, the text of a 2_Dense/config.json, without its folder. INVALID_ARGUMENT
// names the wrong key. Pure.
absl::StatusOr<DenseConfig> ParseDense(absl::string_view json);

// max_seq_length in `json`, the text of a sentence_bert_config.json: the most tokens in a row. 0 if
// the file has none. INVALID_ARGUMENT unless it is a whole number above 0. Pure.
absl::StatusOr<int64_t> ParseMaxTokens(absl::string_view json);

// model_max_length in `json`, the text of a tokenizer_config.json. 0 if the key is missing, or so
// large that it means "no bound", as tools write it. INVALID_ARGUMENT when the text is no JSON
// object. Pure.
absl::StatusOr<int64_t> ParseTokenizerMaxTokens(absl::string_view json);

// The words of sentence-transformers: "mean", "cls", "lasttoken", "max".
absl::string_view NameOf(Pooling pooling);

}  // namespace mpsd
