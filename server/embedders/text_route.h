// TextRoute: which question about texts a path of HTTP asks.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The routes of programs that other servers of embedders have taught their clients. A model answers
// those that Infers(), by its workers; a tokenizer answers kTokenize; the door answers the others
// of what it knows. The order counts: Infers() takes a part of it.
enum class TextRoute : uint8_t {
  kNone,
  kModels,         // GET   /v1/models, and one of them: /v1/models/NAME
  kEmbeddings,     // POST  /v1/embeddings, OpenAI's
  kEmbed,          // POST  /embed, that of text-embeddings-inference ("TEI"); / is a path of it too
  kRerank,         // POST  /rerank, /v1/rerank, /v2/rerank: TEI's, Jina's and Cohere's
  kPredict,        // POST  /predict, TEI's
  kOllama,         // POST  /api/embed, Ollama's
  kOllamaOne,      // POST  /api/embeddings, of its older clients: one text
  kTokenize,       // POST  /tokenize, TEI's
  kInfo,           // GET   /info, likewise
  kOllamaTags,     // GET   /api/tags, Ollama's list of models
  kOllamaPs,       // GET   /api/ps, those that are loaded
  kOllamaShow,     // POST  /api/show, one of them
  kOllamaVersion,  // GET   /api/version
};

// Whose words a refusal has, so that the library of a client finds its own fields in it: the form
// belongs to the path and not to the route, since one route may have the paths of several servers.
// text_error.h has the codes.
//
//   kOpenAi   /v1/models, /v1/embeddings, /v1/rerank, /v2/rerank
//   kTei      /embed and /, /rerank, /predict, /tokenize, /info
//   kPlain    /api/…
enum class ErrorForm : uint8_t {
  kOpenAi,  // {"error":{"message","type","param","code"},"detail"}
  kTei,     // {"error":TEXT,"error_type"}
  kPlain,   // {"error":TEXT}
};

// A value, as short-lived as the path: Route keeps it without the name, of which it has a decoded
// copy.
struct TextPath {
  TextRoute route = TextRoute::kNone;
  ErrorForm errors = ErrorForm::kPlain;
  bool is_get = false;     // else it is a POST
  absl::string_view name;  // of the model in the path, as written, while that lives; empty: none
};

// What the path asks for; kNone where it is no path of these. Case matters, and nothing is decoded
// or folded: RouteOf() (server/door) takes a slash from the end before, and decodes the name
// afterwards. The method is not looked at: the caller answers 405 to another one than `is_get`
// says. A view of `path`. Pure.
TextPath FindTextPath(absl::string_view path);

// Whose words a path has that is none of these, nor of the server's others: OpenAI's below /v1,
// TEI's where TEI has the path or one below which it lies. Pure.
ErrorForm FormOfUnknownPath(absl::string_view path);

// Whether Ollama's clients ask: the names of models may have a tag. Pure.
constexpr bool IsOllamas(TextRoute route) {
  return route == TextRoute::kOllama || route == TextRoute::kOllamaOne ||
         route >= TextRoute::kOllamaTags;
}

// Whether a model answers the route. The body then has texts or tokens, and ReadTextRequest() reads
// it; a TextTask (server/door) serves the request. Else nothing is queued and no worker takes part.
// Pure.
constexpr bool Infers(TextRoute route) {
  return route >= TextRoute::kEmbeddings && route <= TextRoute::kOllamaOne;
}

}  // namespace mpsd
