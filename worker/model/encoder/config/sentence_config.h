// SentenceConfig: the steps behind the encoder in a folder of sentence-transformers.
//
// modules.json lists the encoder, then Pooling, then Dense and Normalize in any order:
//
//   [{"type": "….Transformer", "path": ""}, {"type": "….Pooling", "path": "1_Pooling"},
//    {"type": "….Dense", "path": "2_Dense"}, {"type": "….Normalize", "path": "3_Normalize"}]
//
// A reranker has only the encoder, and LogitScore if it was a chat model.
//
// The functions parse the text of a file, and are pure. INVALID_ARGUMENT names what is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/model/encoder/config/encoder_config.h"

namespace mpsd {

// How the vectors of a row's counting tokens become one: mean, first, last, or largest number in
// each place.
enum class Pooling { kMean, kFirst, kLast, kMax };

// The words that Qwen3-Reranker compares, as token ids of Qwen 3.
inline constexpr int64_t kYesToken = 9693;
inline constexpr int64_t kNoToken = 2152;

struct SentenceStep {
  enum Kind { kPooling, kDense, kNormalize, kLogitScore };
  Kind kind = kPooling;
  std::string folder;  // "1_Pooling", directly in the model's folder
};

// A linear map of the pooled vector.
struct DenseConfig {
  std::string folder;
  int64_t from = 0;  // in_features
  int64_t to = 0;    // out_features
  bool has_bias = true;
  Activation activation = Activation::kTanh;  // activation_function
};

// Reads modules.json, without the encoder. The encoder must be first, Pooling second. LogitScore
// stands alone behind the encoder.
absl::StatusOr<std::vector<SentenceStep>> ParseSentenceSteps(absl::string_view json);

// Reads 1_Pooling/config.json.
absl::StatusOr<Pooling> ParsePooling(absl::string_view json);

// 1_LogitScore/config.json must name Qwen3-Reranker's words. With others, pairs would need other
// texts around them.
absl::Status CheckLogitScore(absl::string_view json);

// activation_fn in config_sentence_transformers.json turns a reranker's logits into scores. Nothing
// if the file names none.
absl::StatusOr<std::optional<Activation>> ParseScoreActivation(absl::string_view json);

// Reads 2_Dense/config.json, without its folder.
absl::StatusOr<DenseConfig> ParseDense(absl::string_view json);

// Reads max_seq_length in sentence_bert_config.json: the most tokens in a row. 0 if the file has
// none.
absl::StatusOr<int64_t> ParseMaxTokens(absl::string_view json);

// Reads model_max_length in tokenizer_config.json. 0 if the key is missing, or so large that it
// means "no bound".
absl::StatusOr<int64_t> ParseTokenizerMaxTokens(absl::string_view json);

// "mean", "cls", "lasttoken", "max".
absl::string_view NameOf(Pooling pooling);

}  // namespace mpsd
