// TextReply: a text route's answer from a model's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/text_request.h"
#include "server/request/reply.h"

namespace mpsd {

// Numbers of a request's rows, in one part per inference. The parts' bytes outlive this.
// Thread-compatible.
class TextValues {
 public:
  // INTERNAL unless the next `row_count` rows have one output, FP32, as wide as those before, with
  // finite numbers. Ignores its name.
  absl::Status Add(const Answer& answer, size_t row_count);

  // Bytes that another object's Add() took. INTERNAL for rows of another width than those before:
  // a model may give each batch its own, and a reload another model's.
  absl::Status AddBytes(absl::string_view bytes, size_t row_count);

  size_t width() const { return width_; }
  size_t row_count() const { return row_count_; }

  void Next(std::vector<float>* row);

 private:
  struct Part {
    absl::string_view bytes;
    size_t row_count;
  };
  std::vector<Part> parts_;
  size_t row_count_ = 0;
  size_t width_ = 0;
  size_t part_ = 0;  // the next row's part, and its row there
  size_t row_ = 0;
};

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
// An embedding is cut to the wanted dimensions, and then normalized on request; an all-zero one
// stays so. Base64 encodes FP32, little endian. Numbers have the fewest digits that read back the
// same. TooLong() beyond about `most_bytes`; INVALID_ARGUMENT if the vectors are shorter
// than wanted. Thread-safe.
absl::Status WriteTextReply(TextRoute route, const TextRequest& request, const TextModel& model,
                            const TextUsage& usage, size_t most_bytes, TextValues* values,
                            std::string* json);

}  // namespace mpsd
