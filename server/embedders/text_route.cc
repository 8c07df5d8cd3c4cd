#include "server/embedders/text_route.h"

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
constexpr std::array<Row, 10> kPaths = {{
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
}};

}  // namespace

TextPath FindTextPath(absl::string_view path) {
  for (const Row& row : kPaths) {
    if (row.path == path) return {row.route, row.errors, row.is_get, {}};
  }
  if (!absl::ConsumePrefix(&path, "/v1/models/") || path.empty()) return {};
  return {TextRoute::kModels, ErrorForm::kOpenAi, true, path};
}

}  // namespace mpsd
