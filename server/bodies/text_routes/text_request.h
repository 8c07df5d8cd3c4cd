// TextRequest: the contents of a text route's body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/bodies/text_routes/text_route.h"
#include "server/request/text_policy.h"

namespace mpsd {

// The rows are texts, pairs of texts, or tokens; never two kinds.
struct TextRequest {
  std::string model;               // empty: not named
  std::vector<std::string> texts;  // one per row, or a query shared by all pairs
  std::vector<std::string> pairs;  // second text per row; empty: no pairs
  std::vector<std::vector<int32_t>> tokens;
  bool is_list = true;  // false: one row, and its answer is no list

  TextWishes wishes;
  std::optional<size_t> dimensions;  // in a vector, at least 1
  bool normalizes = true;            // to length 1
  bool as_base64 = false;
  bool raw_scores = false;
  bool returns_texts = false;
  std::optional<size_t> top_count;  // number of highest scores
  bool is_tei = false;              // a rerank in TEI's form

  size_t row_count() const {
    if (!tokens.empty()) return tokens.size();
    return pairs.empty() ? texts.size() : pairs.size();
  }
  const std::string& TextOf(size_t row) const { return texts.size() == 1 ? texts[0] : texts[row]; }
};

// REQUIRES: the route Infers(), and `request` is new.
//
//   route         the rows                                       further fields
//   kEmbeddings   input: str | [str] | [int] | [[int]]           encoding_format, dimensions,
//                                                                truncate, prompt_name
//   kEmbed        inputs: likewise                               normalize, truncate,
//                                                                truncation_direction, dimensions,
//                                                                prompt_name
//   kRerank       query: str; documents: [str | {text: str}]     top_n, return_documents, truncate
//                 query: str; texts: [str]                       raw_scores, return_text, truncate,
//                                                                truncation_direction
//   kPredict      inputs: str | [a,b] | [[a,b] | [a] | a, …]     raw_scores, truncate,
//                                                                truncation_direction
//   kOllama       input: as kEmbeddings                          dimensions, truncate,
//                                                                prompt_name
//   kOllamaOne    prompt: str                                    likewise
//
// All have "model", on Ollama's routes perhaps with the tag ":latest". Null counts as left out;
// unknown fields are checked and ignored. INVALID_ARGUMENT for any other body; IsTooLong() beyond
// `most_rows`. Takes the texts' memory once more, and the JSON reader's (see InferBody).
// Thread-safe.
absl::Status ReadTextRequest(TextRoute route, std::string body, size_t most_rows,
                             TextRequest* request);

}  // namespace mpsd
