// ReadPreTokenizer: the part of that name, from its JSON.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "text/split/pre_tokenizer.h"
#include "text/tokenizer/fields.h"

namespace mpsd::text {

// INVALID_ARGUMENT names what is wrong or unknown. Pure, thread-safe.
absl::StatusOr<std::unique_ptr<PreTokenizer>> ReadPreTokenizer(const Json& json);

}  // namespace mpsd::text
