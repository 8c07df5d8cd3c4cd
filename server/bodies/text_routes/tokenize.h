// Tokenize: the tokens of texts, for clients that count or inspect them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/bodies/text_routes/text_model.h"

namespace mpsd {

// TEI's POST /tokenize: {"inputs": str | [str], "model"?, "add_special_tokens" = true,
// "prompt_name"?}. A value.
struct TokenizeRequest {
  std::string model;  // empty: not named
  std::vector<std::string> texts;
  bool adds_special = true;
  std::optional<std::string> prompt_name;  // none: the default
};

// Limit of a request's texts with its prompts. Takes some 5 ms.
inline constexpr size_t kMaxTokenizeBytes = 64 << 10;

// Reads such a body. Statuses, unknown fields and null as ReadTextRequest(). Thread-safe.
absl::Status ReadTokenizeRequest(std::string body, size_t most_rows, TokenizeRequest* request);

// [[{"id","piece","text","special","start","stop"}]]: the tokens of each text, uncut, behind those
// of its prompt. The piece is the token in the vocabulary. Text, start and stop are null, since a
// tokenizer here does not know where in a text a token was. Special tokens are those put around a
// text. Statuses of the tokenizer name the text by its place. UNAVAILABLE if the model's tokenizer
// cannot be used, INVALID_ARGUMENT if it has none, IsTooLong() beyond kMaxTokenizeBytes. Takes some
// 0.1 ms for each KiB, and some milliseconds with a large vocabulary. Thread-safe.
absl::StatusOr<std::string> TokensJson(const TokenizeRequest& request, const TextModel& model);

}  // namespace mpsd
