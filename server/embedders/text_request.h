// TextRequest: what the body of a text route asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/embedders/text_route.h"
#include "server/request/text_policy.h"

namespace mpsd {

// The rows are texts, pairs of texts, or tokens; never two of them. A value.
struct TextRequest {
  std::string model;                         // empty: none was named
  std::vector<std::string> texts;            // one a row; or one that all pairs begin with
  std::vector<std::string> pairs;            // the second text of each row; none: there is none
  std::vector<std::vector<int32_t>> tokens;  // rows that came as tokens
  bool is_list = true;                       // else there is one row, and its answer is no list

  TextWishes wishes;
  std::optional<size_t> dimensions;  // numbers of a vector, at least 1
  bool normalizes = true;            // each vector has the length 1
  bool as_base64 = false;
  bool raw_scores = false;
  bool returns_texts = false;       // beside their scores
  std::optional<size_t> top_count;  // of the scores, the highest
  bool is_tei = false;              // of a rerank: in the form of TEI

  size_t row_count() const {
    if (!tokens.empty()) return tokens.size();
    return pairs.empty() ? texts.size() : pairs.size();
  }
  const std::string& TextOf(size_t row) const { return texts.size() == 1 ? texts[0] : texts[row]; }
};

// Reads such a body into `request`, which is as constructed. REQUIRES: the route Infers().
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
// All have "model", on Ollama's routes perhaps with the tag ":latest". Fields with null count as
// left out; fields that are not known are checked and ignored. INVALID_ARGUMENT for any other body;
// IsTooLong() for more than `most_rows` rows. Memory: the texts once more, and what
// server/rest/infer_body.h says of the reader of JSON. Thread-safe.
absl::Status ReadTextRequest(TextRoute route, std::string body, size_t most_rows,
                             TextRequest* request);

}  // namespace mpsd
