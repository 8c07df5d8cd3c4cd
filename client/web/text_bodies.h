// text_bodies: the bodies of mpsd's HTTP routes for texts (docs/http.md). All pure and thread-safe.
//
//   GET  /v1/models                                            ReadTextModels
//   POST /v1/embeddings   EmbeddingsBody   AddEmbeddings ────▶ Embeddings
//   POST /v1/rerank       RerankBody       AddScores ────────▶ Ranking
//   POST /tokenize        TokenizeBody     AddTokens ────────▶ Tokens
//
// Long lists go in several requests, and each answer is added. Bytes that are not UTF-8 become
// U+FFFD. A server may be anybody's, so answers are checked: INTERNAL says what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace mpsd::client {

struct TextModel {
  std::string name;
  std::string task;  // "embedding", "rerank", "classify"
};

// Vectors are in the texts' order.
struct Embeddings {
  size_t width = 0;           // numbers of a vector; 0: none yet
  std::vector<float> values;  // one vector behind the other
  uint64_t token_count = 0;

  size_t row_count() const { return width == 0 ? 0 : values.size() / width; }
  absl::Span<const float> Row(size_t row) const {
    return absl::MakeConstSpan(values).subspan(row * width, width);
  }
};

// Scores are in the documents' order.
struct Ranking {
  std::vector<double> scores;
  uint64_t token_count = 0;

  // Places of documents, the highest score first, equal ones in order.
  std::vector<size_t> Order() const;
};

struct Token {
  int32_t id = 0;
  bool is_special = false;  // the tokenizer put it around the text
  std::string piece;        // as the vocabulary has it; empty: the server does not say
};

// Tokens are in the texts' order.
using Tokens = std::vector<std::vector<Token>>;

absl::StatusOr<std::vector<TextModel>> ReadTextModels(absl::string_view body);

// `prompt` names one of the model's; empty: its default.
std::string EmbeddingsBody(absl::string_view model, absl::Span<const std::string> texts,
                           absl::string_view prompt = "");
absl::Status AddEmbeddings(absl::string_view body, size_t text_count, Embeddings* embeddings);

std::string RerankBody(absl::string_view model, absl::string_view query,
                       absl::Span<const std::string> documents);
absl::Status AddScores(absl::string_view body, size_t document_count, Ranking* ranking);

std::string TokenizeBody(absl::string_view model, absl::Span<const std::string> texts);
absl::Status AddTokens(absl::string_view body, size_t text_count, Tokens* tokens);

}  // namespace mpsd::client
