// PutTensorJson: writes the elements of an output as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "server/request/reply.h"

namespace mpsd {

enum class DataForm {
  kArray,         // flat, whatever the shape
  kBareIfSingle,  // a single element without brackets
};

// Appends the elements. INVALID_ARGUMENT if they have no form in JSON: FP16, BF16, a number that is
// not finite, a text that is not UTF-8. The error says that the client can have these binary.
// RESOURCE_EXHAUSTED beyond about `most_bytes`: one byte may take six in JSON. INTERNAL if a BYTES
// tensor does not match its shape. After an error `out` has a part of the elements. Thread-safe.
absl::Status PutTensorJson(const AnswerOutput& output, DataForm form, size_t most_bytes,
                           std::string* out);

}  // namespace mpsd
