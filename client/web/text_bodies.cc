#include "client/web/text_bodies.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/web/answer_json.h"

namespace mpsd::client {
namespace {

std::vector<std::string> Listed(absl::Span<const std::string> texts) {
  return {texts.begin(), texts.end()};
}

// Has one object for each of `count` rows.
absl::StatusOr<const Json*> ReadList(const Json& json, const char* key, size_t count) {
  const Json& list = Field(json, key);
  if (!list.is_array()) return WrongAnswer(absl::StrCat("has no list '", key, "'"));
  if (list.size() != count) {
    return WrongAnswer(absl::StrCat("has ", list.size(), " rows for ", count, " texts"));
  }
  return &list;
}

uint64_t TokenCount(const Json& json) {
  const Json& count = Field(Field(json, "usage"), "total_tokens");
  return count.is_number_unsigned() ? count.get<uint64_t>() : 0;
}

// Nothing unless it is below `count`.
std::optional<size_t> IndexOf(const Json& row, size_t count) {
  const Json& index = Field(row, "index");
  if (!index.is_number_unsigned() || index.get<size_t>() >= count) return std::nullopt;
  return index.get<size_t>();
}

// Base64 of little-endian FP32; none: no such text.
std::vector<float> VectorOf(const Json& row) {
  const Json& encoded = Field(row, "embedding");
  std::string bytes;
  if (!encoded.is_string() || !absl::Base64Unescape(encoded.get<std::string>(), &bytes)) return {};
  std::vector<float> vector(bytes.size() / sizeof(float));
  if (vector.size() * sizeof(float) != bytes.size()) return {};
  std::memcpy(vector.data(), bytes.data(), bytes.size());
  return vector;
}

absl::StatusOr<Token> ReadToken(const Json& json) {
  const Json& id = Field(json, "id");
  if (!id.is_number_unsigned()) return WrongAnswer("has a token without an id");
  if (id.get<uint64_t>() > std::numeric_limits<int32_t>::max()) {
    return WrongAnswer("has a token whose id is too large");
  }
  const Json& special = Field(json, "special");
  const Json& piece = Field(json, "piece");
  return Token{id.get<int32_t>(), special.is_boolean() && special.get<bool>(),
               piece.is_string() ? piece.get<std::string>() : ""};
}

}  // namespace

std::vector<size_t> Ranking::Order() const {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

absl::StatusOr<std::vector<TextModel>> ReadTextModels(absl::string_view body) {
  const Json json = ParseAnswer(body);
  const Json& list = Field(json, "data");
  if (!list.is_array()) return WrongAnswer("is no list of models");
  std::vector<TextModel> models;
  for (const Json& entry : list) {
    const Json& name = Field(entry, "id");
    const Json& task = Field(entry, "task");
    if (!name.is_string() || !task.is_string()) return WrongAnswer("has a model without a task");
    models.push_back({name.get<std::string>(), task.get<std::string>()});
  }
  return models;
}

std::string EmbeddingsBody(absl::string_view model, absl::Span<const std::string> texts,
                           absl::string_view prompt) {
  Json body = {
      {"model", std::string(model)}, {"input", Listed(texts)}, {"encoding_format", "base64"}};
  if (!prompt.empty()) body["prompt_name"] = std::string(prompt);
  return JsonText(body);
}

absl::Status AddEmbeddings(absl::string_view body, size_t text_count, Embeddings* embeddings) {
  const Json json = ParseAnswer(body);
  const auto rows = ReadList(json, "data", text_count);
  if (!rows.ok()) return rows.status();
  for (size_t i = 0; i < text_count; ++i) {
    const Json& row = (**rows)[i];
    if (IndexOf(row, text_count) != i) return WrongAnswer("is not in the order of texts");
    const std::vector<float> vector = VectorOf(row);
    if (vector.empty()) return WrongAnswer("has a row without a vector");
    if (embeddings->width == 0) embeddings->width = vector.size();
    if (embeddings->width != vector.size()) return WrongAnswer("has vectors of other lengths");
    embeddings->values.insert(embeddings->values.end(), vector.begin(), vector.end());
  }
  embeddings->token_count += TokenCount(json);
  return absl::OkStatus();
}

std::string RerankBody(absl::string_view model, absl::string_view query,
                       absl::Span<const std::string> documents) {
  return JsonText({{"model", std::string(model)},
                   {"query", std::string(query)},
                   {"documents", Listed(documents)}});
}

absl::Status AddScores(absl::string_view body, size_t document_count, Ranking* ranking) {
  const Json json = ParseAnswer(body);
  const auto rows = ReadList(json, "results", document_count);
  if (!rows.ok()) return rows.status();
  std::vector<std::optional<double>> scores(document_count);
  for (const Json& row : **rows) {
    const std::optional<size_t> index = IndexOf(row, document_count);
    if (!index.has_value() || scores[*index].has_value()) {
      return WrongAnswer("has not one score for each document");
    }
    const Json& score = Field(row, "relevance_score");
    if (!score.is_number()) return WrongAnswer("has a row without a score");
    scores[*index] = score.get<double>();
  }
  for (const std::optional<double> score : scores) ranking->scores.push_back(*score);
  ranking->token_count += TokenCount(json);
  return absl::OkStatus();
}

std::string TokenizeBody(absl::string_view model, absl::Span<const std::string> texts) {
  return JsonText({{"model", std::string(model)}, {"inputs", Listed(texts)}});
}

absl::Status AddTokens(absl::string_view body, size_t text_count, Tokens* tokens) {
  const Json json = ParseAnswer(body);
  if (!json.is_array() || json.size() != text_count) {
    return WrongAnswer(absl::StrCat("has not one row for each of ", text_count, " texts"));
  }
  for (const Json& list : json) {
    if (!list.is_array()) return WrongAnswer("has a row that is no list");
    std::vector<Token> row;
    for (const Json& entry : list) {
      absl::StatusOr<Token> token = ReadToken(entry);
      if (!token.ok()) return token.status();
      row.push_back(*std::move(token));
    }
    tokens->push_back(std::move(row));
  }
  return absl::OkStatus();
}

}  // namespace mpsd::client
