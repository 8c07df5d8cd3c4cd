#include "client/cli/text_report.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "client/cli/infer_report.h"
#include "client/format/npy.h"
#include "client/format/table.h"

namespace mpsd::cli {
namespace {

using client::Embeddings;
using client::Ranking;
using client::Token;
using client::Tokens;
using Json = nlohmann::json;
// Has a float's digits, not a double's.
using FloatJson =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, int64_t, uint64_t, float>;

std::string Line(const Json& report) {
  return report.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string TailText(const SentTexts& sent, uint64_t token_count) {
  return absl::StrCat("\nmodel ", sent.model, ", ", token_count, " tokens\n");
}

std::vector<size_t> TopOf(const Ranking& ranking, size_t top_count) {
  std::vector<size_t> order = ranking.Order();
  if (top_count > 0) order.resize(std::min(order.size(), top_count));
  return order;
}

std::string VectorJson(absl::Span<const float> row) {
  return FloatJson(std::vector<float>(row.begin(), row.end())).dump();
}

uint64_t CountOf(const Tokens& tokens) {
  uint64_t count = 0;
  for (const auto& row : tokens) count += row.size();
  return count;
}

Json TokenJson(const Token& token) {
  return {{"id", token.id},
          {"piece", token.piece.empty() ? Json() : Json(token.piece)},
          {"special", token.is_special}};
}

}  // namespace

std::string EmbedText(const SentTexts& sent, const Embeddings& embeddings) {
  std::vector<std::vector<double>> vectors;
  for (size_t i = 0; i < embeddings.row_count(); ++i) {
    const absl::Span<const float> row = embeddings.Row(i);
    vectors.emplace_back(row.begin(), row.end());
  }
  return EmbeddingsText(sent.texts, vectors) + TailText(sent, embeddings.token_count);
}

std::string EmbedJson(const SentTexts& sent, const Embeddings& embeddings) {
  // One JSON value would take four times the numbers' memory.
  std::string json =
      absl::StrCat("{\"model\":", Line(sent.model), ",\"tokens\":", embeddings.token_count,
                   ",\"truncated_texts\":", sent.cut_count, ",\"embeddings\":[");
  for (size_t i = 0; i < embeddings.row_count(); ++i) {
    absl::StrAppend(&json, i > 0 ? "," : "", "{\"text\":", Line(sent.texts[i]),
                    ",\"embedding\":", VectorJson(embeddings.Row(i)), "}");
  }
  return json + "]}\n";
}

absl::StatusOr<std::string> EmbedNpy(const Embeddings& embeddings) {
  NpyArray array;
  array.datatype = DataType::kFp32;
  array.shape = {static_cast<int64_t>(embeddings.row_count()),
                 static_cast<int64_t>(embeddings.width)};
  array.bytes.resize(embeddings.values.size() * sizeof(float));
  std::memcpy(array.bytes.data(), embeddings.values.data(), array.bytes.size());
  return FormatNpy(array);
}

std::string RerankText(const SentTexts& sent, const Ranking& ranking, size_t top_count) {
  Table table({{"RANK", kRight}, {"ROW", kRight}, {"SCORE", kRight}, {"DOCUMENT"}});
  size_t rank = 0;
  for (const size_t index : TopOf(ranking, top_count)) {
    table.AddRow({absl::StrCat(++rank), absl::StrCat(index + 1),
                  absl::StrFormat("%.5g", ranking.scores[index]), ShortCell(sent.texts[index])});
  }
  return table.Text() + TailText(sent, ranking.token_count);
}

std::string RerankJson(const SentTexts& sent, const Ranking& ranking, size_t top_count) {
  Json report = {{"model", sent.model},
                 {"query", sent.query},
                 {"tokens", ranking.token_count},
                 {"truncated_texts", sent.cut_count},
                 {"results", Json::array()}};
  for (const size_t index : TopOf(ranking, top_count)) {
    report["results"].push_back(
        {{"index", index}, {"score", ranking.scores[index]}, {"document", sent.texts[index]}});
  }
  return Line(report) + "\n";
}

std::string TokenizeText(const SentTexts& sent, const Tokens& tokens) {
  Table table({{"ROW", kRight}, {"PLACE", kRight}, {"ID", kRight}, {"PIECE"}, {"SPECIAL"}});
  for (size_t row = 0; row < tokens.size(); ++row) {
    for (size_t place = 0; place < tokens[row].size(); ++place) {
      const Token& token = tokens[row][place];
      table.AddRow({absl::StrCat(row + 1), absl::StrCat(place + 1), absl::StrCat(token.id),
                    token.piece.empty() ? "-" : ShortCell(token.piece),
                    token.is_special ? "yes" : ""});
    }
  }
  return table.Text() + TailText(sent, CountOf(tokens));
}

std::string TokenizeJson(const SentTexts& sent, const Tokens& tokens) {
  Json report = {{"model", sent.model}, {"rows", Json::array()}};
  for (size_t row = 0; row < tokens.size(); ++row) {
    Json list = Json::array();
    for (const Token& token : tokens[row]) list.push_back(TokenJson(token));
    report["rows"].push_back({{"text", sent.texts[row]}, {"tokens", std::move(list)}});
  }
  return Line(report) + "\n";
}

}  // namespace mpsd::cli
