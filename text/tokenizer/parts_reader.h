// ReadParts: the parts of a tokenizer, from its JSON.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "text/tokenizer/tokenizer.h"

namespace mpsd::text {

// INVALID_ARGUMENT names the first thing that is wrong or unknown. Pure, thread-safe.
absl::StatusOr<TokenizerParts> ReadParts(absl::string_view json);

}  // namespace mpsd::text
