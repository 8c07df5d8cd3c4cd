#include "server/bodies/text_routes/text_route.h"

#include <array>

#include "absl/strings/strip.h"

namespace mpsd {
namespace {

struct Row {
  absl::string_view path;
  TextRoute route;
  ErrorForm errors;
  bool is_get;
};
constexpr std::array<Row, 15> kPaths = {{
    {"/v1/models", TextRoute::kModels, ErrorForm::kOpenAi, true},
    {"/v1/embeddings", TextRoute::kEmbeddings, ErrorForm::kOpenAi, false},
    {"/v1/rerank", TextRoute::kRerank, ErrorForm::kOpenAi, false},
    {"/v2/rerank", TextRoute::kRerank, ErrorForm::kOpenAi, false},
    {"/rerank", TextRoute::kRerank, ErrorForm::kTei, false},
    {"/embed", TextRoute::kEmbed, ErrorForm::kTei, false},
    {"/predict", TextRoute::kPredict, ErrorForm::kTei, false},
    {"/tokenize", TextRoute::kTokenize, ErrorForm::kTei, false},
    {"/info", TextRoute::kInfo, ErrorForm::kTei, true},
    {"/api/embed", TextRoute::kOllama, ErrorForm::kPlain, false},
    {"/api/embeddings", TextRoute::kOllamaOne, ErrorForm::kPlain, false},
    {"/api/tags", TextRoute::kOllamaTags, ErrorForm::kPlain, true},
    {"/api/ps", TextRoute::kOllamaPs, ErrorForm::kPlain, true},
    {"/api/show", TextRoute::kOllamaShow, ErrorForm::kPlain, false},
    {"/api/version", TextRoute::kOllamaVersion, ErrorForm::kPlain, true},
}};

// These are no routes here.
constexpr std::array<absl::string_view, 4> kOtherPathsOfTei = {"/decode", "/embed_all",
                                                               "/embed_sparse", "/similarity"};

bool IsAtOrBelow(absl::string_view path, absl::string_view known) {
  return absl::ConsumePrefix(&path, known) && (path.empty() || path.front() == '/');
}

}  // namespace

ErrorForm FormOfUnknownPath(absl::string_view path) {
  if (IsAtOrBelow(path, "/v1")) return ErrorForm::kOpenAi;
  for (const Row& row : kPaths) {
    if (row.errors == ErrorForm::kTei && IsAtOrBelow(path, row.path)) return ErrorForm::kTei;
  }
  for (const absl::string_view other : kOtherPathsOfTei) {
    if (IsAtOrBelow(path, other)) return ErrorForm::kTei;
  }
  return ErrorForm::kPlain;
}

TextPath FindTextPath(absl::string_view path) {
  for (const Row& row : kPaths) {
    if (row.path == path) return {row.route, row.errors, row.is_get, {}};
  }
  if (!absl::ConsumePrefix(&path, "/v1/models/") || path.empty()) return {};
  return {TextRoute::kModels, ErrorForm::kOpenAi, true, path};
}

}  // namespace mpsd
