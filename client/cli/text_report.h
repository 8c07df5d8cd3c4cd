// text_report: the output of `embed`, `rerank` and `tokenize`. All pure and thread-safe.
//
// Tables are for people and may change. JSON is one object on one line, whose keys stay. Bytes that
// are not UTF-8 become U+FFFD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/web/text_bodies.h"

namespace mpsd::cli {

struct SentTexts {
  std::string model;
  std::string query;               // for `rerank`
  std::vector<std::string> texts;  // one for each row of the answer
  uint64_t cut_count = 0;          // cut by the server
};

// A line for each text with dims, norm and first values; then the model and its tokens.
std::string EmbedText(const SentTexts& sent, const client::Embeddings& embeddings);

// "model", "tokens", "truncated_texts", "embeddings": [{"text", "embedding"}]. Numbers have the
// fewest digits that read back the same.
std::string EmbedJson(const SentTexts& sent, const client::Embeddings& embeddings);

// An array FP32 [texts, dims]. Errors as FormatNpy()'s.
absl::StatusOr<std::string> EmbedNpy(const client::Embeddings& embeddings);

// The `top_count` best documents, or all if it is 0, each with its place among those sent, from 1
// as in a file's lines.
std::string RerankText(const SentTexts& sent, const client::Ranking& ranking, size_t top_count);

// "model", "query", "tokens", "truncated_texts", "results": [{"index", "score", "document"}]; the
// index counts from 0.
std::string RerankJson(const SentTexts& sent, const client::Ranking& ranking, size_t top_count);

// A line for each token: row, place, id, piece, and whether it is special.
std::string TokenizeText(const SentTexts& sent, const client::Tokens& tokens);

// "model", "rows": [{"text", "tokens": [{"id", "piece", "special"}]}]; an unknown piece is null.
std::string TokenizeJson(const SentTexts& sent, const client::Tokens& tokens);

}  // namespace mpsd::cli
