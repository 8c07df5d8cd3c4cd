// TextRows: some rows of a TextRequest, as one inference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "server/bodies/text_routes/text_model.h"
#include "server/bodies/text_routes/text_request.h"
#include "server/request/infer_message.h"
#include "server/request/token_rows.h"

namespace mpsd {

// OK if the model can answer the route, and the rows with what they share take at most
// `most_bytes`. INVALID_ARGUMENT for another task, too many dimensions, or an unknown token id;
// IsTooLong() for the bytes. Pure.
absl::Status CheckTextRequest(TextRoute route, const TextRequest& request, const TextModel& model,
                              uint64_t most_bytes);

// `count` rows from `first` on:
//
//   texts             text BYTES[count,1]
//   pairs             text BYTES[count,1], text_pair BYTES[count,1]
//   tokens            input_ids [count,longest], attention_mask, token_type_ids, as the model has
//                     them; rows are padded, and cut where the model takes fewer
//
// Owned by a call's task, and used again. Not moved: messages have views of it. Thread-compatible.
class TextRows {
 public:
  TextRows() = default;
  TextRows(const TextRows&) = delete;
  TextRows& operator=(const TextRows&) = delete;

  // TooLong(), with its place in the request, for a row of tokens that may not be cut. REQUIRES:
  // `count` is at least 1, the request has these rows, and CheckTextRequest() accepted it.
  absl::Status Take(const TextRequest& request, const TextModel& model, size_t first, size_t count);

  // Sets the message's inputs, and the one wanted output. The views of this live until Drop(), the
  // other fields as long as the model.
  void Fill(const TextRequest& request, const TextModel& model, InferMessage* message) const;

  void Drop();

  size_t row_count() const { return static_cast<size_t>(dims_[0]); }

  // For rows sent as tokens; the tokenizer counts texts.
  uint64_t token_count() const { return token_count_; }
  uint64_t truncated() const { return truncated_; }

  // Rows that the model computes, equal texts being one, and about how many bytes it reads.
  size_t distinct_count() const { return distinct_count_; }
  uint64_t work() const { return work_; }

 private:
  absl::Status TakeTokens(const TextRequest& request, const TextModel& model, size_t first,
                          size_t count);
  void CountTexts(const TextRequest& request, const TextModel& model);

  size_t first_ = 0;
  std::array<int64_t, 2> dims_{};
  size_t distinct_count_ = 0;
  uint64_t work_ = 0;
  std::string texts_;  // BYTES elements
  std::string pairs_;
  TokenRows tokens_;
  uint64_t token_count_ = 0;
  uint64_t truncated_ = 0;
};

}  // namespace mpsd
