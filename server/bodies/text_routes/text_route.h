// TextRoute: the question about texts that an HTTP path asks.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// Models answer those that Infers(), a tokenizer kTokenize, the door the rest. The order counts:
// Infers() takes a part of it.
enum class TextRoute : uint8_t {
  kNone,
  kModels,         // GET   /v1/models, and one of them: /v1/models/NAME
  kEmbeddings,     // POST  /v1/embeddings, OpenAI's
  kEmbed,          // POST  /embed of text-embeddings-inference ("TEI"); also /
  kRerank,         // POST  /rerank, /v1/rerank, /v2/rerank: TEI's, Jina's and Cohere's
  kPredict,        // POST  /predict, TEI's
  kOllama,         // POST  /api/embed, Ollama's
  kOllamaOne,      // POST  /api/embeddings, of its older clients: one text
  kTokenize,       // POST  /tokenize, TEI's
  kInfo,           // GET   /info, TEI's
  kOllamaTags,     // GET   /api/tags, Ollama's list of models
  kOllamaPs,       // GET   /api/ps, the loaded ones
  kOllamaShow,     // POST  /api/show, one of them
  kOllamaVersion,  // GET   /api/version
};

// The words of a refusal, so that a client's library finds its own fields. They belong to the path,
// since one route may have several servers' paths.
//
//   kOpenAi   /v1/models, /v1/embeddings, /v1/rerank, /v2/rerank
//   kTei      /embed and /, /rerank, /predict, /tokenize, /info
//   kPlain    /api/…
enum class ErrorForm : uint8_t {
  kOpenAi,  // {"error":{"message","type","param","code"},"detail"}
  kTei,     // {"error":TEXT,"error_type"}
  kPlain,   // {"error":TEXT}
};

// A view of the path.
struct TextPath {
  TextRoute route = TextRoute::kNone;
  ErrorForm errors = ErrorForm::kPlain;
  bool is_get = false;     // else a POST
  absl::string_view name;  // as written in the path; may be empty
};

// Case matters, and nothing is decoded: RouteOf() removes a final slash before, and decodes the
// name afterwards. The caller answers 405 if the method differs from `is_get`. Pure.
TextPath FindTextPath(absl::string_view path);

// OpenAI's words below /v1, TEI's if TEI has the path or one above it. Pure.
ErrorForm FormOfUnknownPath(absl::string_view path);

// Models' names may have a tag. Pure.
constexpr bool IsOllamas(TextRoute route) {
  return route == TextRoute::kOllama || route == TextRoute::kOllamaOne ||
         route >= TextRoute::kOllamaTags;
}

// The body then has texts or tokens, and a TextTask serves it. Pure.
constexpr bool Infers(TextRoute route) {
  return route >= TextRoute::kEmbeddings && route <= TextRoute::kOllamaOne;
}

}  // namespace mpsd
