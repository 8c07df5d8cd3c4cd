// TextRoute: which question about texts an HTTP path asks.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The routes of other embedders' clients. A model's workers answer those that Infers(), a tokenizer
// answers kTokenize, and the door answers the rest itself. The order counts: Infers() takes a part
// of it.
enum class TextRoute : uint8_t {
  kNone,
  kModels,         // GET   /v1/models, and one of them: /v1/models/NAME
  kEmbeddings,     // POST  /v1/embeddings, OpenAI's
  kEmbed,          // POST /embed of text-embeddings-inference ("TEI"); also /
  kRerank,         // POST  /rerank, /v1/rerank, /v2/rerank: TEI's, Jina's and Cohere's
  kPredict,        // POST  /predict, TEI's
  kOllama,         // POST  /api/embed, Ollama's
  kOllamaOne,      // POST  /api/embeddings, of its older clients: one text
  kTokenize,       // POST  /tokenize, TEI's
  kInfo,           // GET /info, TEI's
  kOllamaTags,     // GET   /api/tags, Ollama's list of models
  kOllamaPs,       // GET /api/ps, the loaded ones
  kOllamaShow,     // POST  /api/show, one of them
  kOllamaVersion,  // GET   /api/version
};

// The words of a refusal, so that a client's library finds its own fields in it. The form belongs
// to the path and not to the route, since one route may have several servers' paths. text_error.h
// has the codes.
//
//   kOpenAi   /v1/models, /v1/embeddings, /v1/rerank, /v2/rerank
//   kTei      /embed and /, /rerank, /predict, /tokenize, /info
//   kPlain    /api/…
enum class ErrorForm : uint8_t {
  kOpenAi,  // {"error":{"message","type","param","code"},"detail"}
  kTei,     // {"error":TEXT,"error_type"}
  kPlain,   // {"error":TEXT}
};

// A value, as short-lived as the path: Route keeps it without the name, which it copies decoded.
struct TextPath {
  TextRoute route = TextRoute::kNone;
  ErrorForm errors = ErrorForm::kPlain;
  bool is_get = false;     // else it is a POST
  absl::string_view name;  // the model's name in the path, as written; may be empty
};

// The path's question; kNone for any other path. Case matters, and nothing is decoded or folded:
// RouteOf() (server/door/route) removes a final slash before, and decodes the name afterwards.
// Ignores the method: the caller answers 405 if it differs from `is_get`. A view of `path`. Pure.
TextPath FindTextPath(absl::string_view path);

// The words for an unknown path: OpenAI's below /v1, TEI's if TEI has the path or one above it.
// Pure.
ErrorForm FormOfUnknownPath(absl::string_view path);

// Whether Ollama's clients ask: models' names may have a tag. Pure.
constexpr bool IsOllamas(TextRoute route) {
  return route == TextRoute::kOllama || route == TextRoute::kOllamaOne ||
         route >= TextRoute::kOllamaTags;
}

// Whether a model answers the route. Then the body has texts or tokens, ReadTextRequest() reads it,
// and a TextTask (server/door) serves it. Otherwise nothing is queued and no worker takes part.
// Pure.
constexpr bool Infers(TextRoute route) {
  return route >= TextRoute::kEmbeddings && route <= TextRoute::kOllamaOne;
}

}  // namespace mpsd
