#include "client/cli/infer_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "client/format/elements.h"
#include "client/format/table.h"

namespace mpsd::cli {
namespace {

using client::InferOutput;
using client::InferReply;
using Json = nlohmann::json;
using Vectors = std::vector<std::vector<double>>;

constexpr size_t kShownValues = 4;

std::string Formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string FirstValues(const std::vector<double>& values, const char* format) {
  std::string text;
  for (size_t i = 0; i < std::min(values.size(), kShownValues); ++i) {
    absl::StrAppend(&text, i > 0 ? " " : "", Formatted(format, values[i]));
  }
  return values.size() > kShownValues ? text + " …" : text;
}

std::string FirstElements(const InferOutput& output) {
  const auto elements = client::UnpackBytes(output.bytes);
  if (!elements.ok()) return std::string(elements.status().message());
  std::string text;
  for (size_t i = 0; i < std::min(elements->size(), kShownValues); ++i) {
    absl::StrAppend(&text, i > 0 ? " " : "",
                    Json((*elements)[i]).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return elements->size() > kShownValues ? text + " …" : text;
}

std::vector<std::string> OutputRow(const InferOutput& output) {
  std::vector<std::string> cells = {output.name, std::string(DataTypeName(output.datatype)),
                                    ShapeText(output.shape)};
  if (output.datatype == DataType::kBytes) {
    cells.insert(cells.end(), {"", "", "", FirstElements(output)});
    return cells;
  }
  const std::vector<double> values = Numbers(output);
  if (values.empty()) {
    cells.insert(cells.end(), {"", "", "", ""});
    return cells;
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  cells.insert(cells.end(), {Formatted("%.5g", *low), Formatted("%.5g", *high),
                             Formatted("%.5g", mean), FirstValues(values, "%.5g")});
  return cells;
}

std::string OutputsText(const InferReply& reply) {
  Table table({{"OUTPUT"},
               {"DATATYPE"},
               {"SHAPE"},
               {"MIN", kRight},
               {"MAX", kRight},
               {"MEAN", kRight},
               {"FIRST VALUES"}});
  for (const InferOutput& output : reply.outputs) table.AddRow(OutputRow(output));
  return table.Text();
}

std::string CosinesText(const Vectors& vectors) {
  std::vector<Table::Column> columns = {{"COSINE", kRight}};
  for (size_t i = 0; i < vectors.size(); ++i) columns.push_back({absl::StrCat(i + 1), kRight});
  Table table(std::move(columns));
  for (size_t i = 0; i < vectors.size(); ++i) {
    std::vector<std::string> cells = {absl::StrCat(i + 1)};
    for (const auto& other : vectors) cells.push_back(Formatted("%.4f", Cosine(vectors[i], other)));
    table.AddRow(std::move(cells));
  }
  return table.Text();
}

template <class T>
Json Integers(const InferOutput& output) {
  const auto values = client::Values<T>(output);
  return values.ok() ? Json(*values) : Json::array();
}

// 64-bit integers stay exact.
Json ElementsJson(const InferOutput& output) {
  if (output.datatype == DataType::kInt64) return Integers<int64_t>(output);
  if (output.datatype == DataType::kUint64) return Integers<uint64_t>(output);
  if (output.datatype == DataType::kBytes) {
    const auto elements = client::UnpackBytes(output.bytes);
    return elements.ok() ? Json(*elements) : Json::array();
  }
  Json list = Json::array();
  const bool is_bool = output.datatype == DataType::kBool;
  const bool is_float = output.datatype == DataType::kFp16 || output.datatype == DataType::kBf16 ||
                        output.datatype == DataType::kFp32 || output.datatype == DataType::kFp64;
  for (const double value : Numbers(output)) {
    list.push_back(is_bool    ? Json(value != 0)
                   : is_float ? Json(value)
                              : Json(static_cast<int64_t>(value)));
  }
  return list;
}

}  // namespace

Vectors FindEmbeddings(const InferReply& reply, size_t row_count) {
  for (const InferOutput& output : reply.outputs) {
    const std::vector<double> values = Numbers(output);
    if (row_count == 0 || output.shape.size() != 2 || values.empty() ||
        output.shape[0] != static_cast<int64_t>(row_count)) {
      continue;
    }
    Vectors vectors;
    const auto dims = static_cast<ptrdiff_t>(output.shape[1]);
    for (auto row = values.begin(); row != values.end(); row += dims) {
      vectors.emplace_back(row, row + dims);
    }
    return vectors;
  }
  return {};
}

double Norm(const std::vector<double>& vector) {
  return std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
}

double Cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const double lengths = Norm(a) * Norm(b);
  return lengths > 0 ? std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / lengths : 0;
}

std::string EmbeddingsText(absl::Span<const std::string> texts, const Vectors& vectors) {
  Table table({{"ROW", kRight}, {"TEXT"}, {"DIMS", kRight}, {"NORM", kRight}, {"FIRST VALUES"}});
  for (size_t i = 0; i < vectors.size(); ++i) {
    table.AddRow({absl::StrCat(i + 1), ShortCell(texts[i]), absl::StrCat(vectors[i].size()),
                  Formatted("%.4f", Norm(vectors[i])), FirstValues(vectors[i], "%+.4f")});
  }
  return table.Text();
}

std::string ReportText(const InferReply& reply, absl::Span<const std::string> texts,
                       double latency_ms) {
  const Vectors vectors = FindEmbeddings(reply, texts.size());
  std::string text = vectors.empty() ? OutputsText(reply) : EmbeddingsText(texts, vectors);
  if (vectors.size() > 1) absl::StrAppend(&text, "\n", CosinesText(vectors));
  absl::StrAppend(&text, "\nmodel ", reply.model, " version ", reply.version);
  if (!reply.id.empty()) absl::StrAppend(&text, ", request ", reply.id);
  absl::StrAppend(&text, ", ", Formatted("%.2f", latency_ms), " ms\n");
  return text;
}

std::string CutsText(const InferReply& reply, size_t text_count) {
  if (reply.truncated_texts == 0) return "";
  return absl::StrCat("mpsd: ", reply.truncated_texts, " of ", text_count,
                      " texts had too many tokens for the model: their rest was cut\n");
}

std::string ReportJson(const InferReply& reply, absl::Span<const std::string> texts,
                       double latency_ms) {
  Json report = {{"model", reply.model},
                 {"version", reply.version},
                 {"id", reply.id},
                 {"latency_ms", latency_ms},
                 {"outputs", Json::array()}};
  for (const InferOutput& output : reply.outputs) {
    report["outputs"].push_back(
        {{"name", output.name},
         {"datatype", std::string(DataTypeName(output.datatype))},
         {"shape", std::vector<int64_t>(output.shape.begin(), output.shape.end())},
         {"data", ElementsJson(output)}});
  }
  if (!texts.empty()) report["truncated_texts"] = reply.truncated_texts;
  const Vectors vectors = FindEmbeddings(reply, texts.size());
  for (size_t i = 0; i < vectors.size(); ++i) {
    report["texts"].push_back({{"text", texts[i]}, {"norm", Norm(vectors[i])}});
    Json cosines = Json::array();
    for (const auto& other : vectors) cosines.push_back(Cosine(vectors[i], other));
    report["cosine"].push_back(std::move(cosines));
  }
  return report.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mpsd::cli
