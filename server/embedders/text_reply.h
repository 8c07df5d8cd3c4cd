// TextReply: writes the answer of a text route, of the numbers that a model has given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/embedders/text_model.h"
#include "server/embedders/text_request.h"
#include "server/request/reply.h"

namespace mpsd {

// The numbers of a request's rows, in their order, in as many parts as there were inferences. Views
// of the parts' bytes, which live during one call. Thread-compatible.
class TextValues {
 public:
  // Adds the answer of the next `row_count` rows. INTERNAL unless it has one output, FP32, with as
  // many rows, all as wide as those before, and finite numbers. Does not look at its name.
  absl::Status Add(const Answer& answer, size_t row_count);

  // The same of bytes that Add() of another object took.
  void AddBytes(absl::string_view bytes, size_t row_count);

  size_t width() const { return width_; }
  size_t row_count() const { return row_count_; }

  // Copies the numbers of the row that follows the last one copied.
  void Next(std::vector<float>* row);

 private:
  struct Part {
    absl::string_view bytes;
    size_t row_count;
  };
  std::vector<Part> parts_;
  size_t row_count_ = 0;
  size_t width_ = 0;
  size_t part_ = 0;  // of the next row, and which of its rows that is
  size_t row_ = 0;
};

// What else an answer says. A value.
struct TextUsage {
  uint64_t token_count = 0;
  int64_t duration_ns = 0;
  absl::string_view id;
};

// Appends the body:
//
//   kEmbeddings   {"object":"list","data":[{"object":"embedding","index":0,"embedding":[…]}],
//                  "model","usage":{"prompt_tokens","total_tokens"}}
//   kEmbed        [[…]]
//   kOllama       {"model","embeddings":[[…]],"total_duration","load_duration",
//                  "prompt_eval_count"}
//   kOllamaOne    {"embedding":[…]}
//   kRerank       {"id","model","results":[{"index","relevance_score","document"?}],"usage"},
//                 or of TEI [{"index","score","text"?}]; the highest first, of equal ones the first
//   kPredict      [{"label","score"}], the highest first; a list of them for a list of rows
//
// An embedding is cut to the dimensions that the client wants, and then, where the request
// normalizes, of length 1; one that is all zeros stays so. Base64 is that of FP32, little endian.
// Numbers have the fewest digits that read back the same. RESOURCE_EXHAUSTED where the body would
// have more than about `most_bytes`; INVALID_ARGUMENT where the vectors are shorter than wanted.
// Thread-safe.
absl::Status WriteTextReply(TextRoute route, const TextRequest& request, const TextModel& model,
                            const TextUsage& usage, size_t most_bytes, TextValues* values,
                            std::string* json);

}  // namespace mpsd
