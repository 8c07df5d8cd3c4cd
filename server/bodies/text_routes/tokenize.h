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
// "prompt_name"?}.
struct TokenizeRequest {
  std::string model;  // empty: not named
  std::vector<std::string> texts;
  bool adds_special = true;
  std::optional<std::string> prompt_name;  // none: the default
};

// A request's texts with its prompts. Takes some 5 ms.
inline constexpr size_t kMaxTokenizeBytes = 64 << 10;

// Statuses, unknown fields and null as ReadTextRequest(). Thread-safe.
absl::Status ReadTokenizeRequest(std::string body, size_t most_rows, TokenizeRequest* request);

// [[{"id","piece","text","special","start","stop"}]]: the uncut tokens of each text, behind its
// prompt's. Text, start and stop are null, since no tokenizer here knows a token's place in a text.
// Special tokens are those around a text. Errors name the text by its place. UNAVAILABLE if the
// tokenizer cannot be used, INVALID_ARGUMENT without one, IsTooLong() beyond kMaxTokenizeBytes.
// Takes some 0.1 ms per KiB, and some milliseconds with a large vocabulary. Thread-safe.
absl::StatusOr<std::string> TokensJson(const TokenizeRequest& request, const TextModel& model);

}  // namespace mpsd
