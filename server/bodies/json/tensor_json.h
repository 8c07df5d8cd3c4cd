// PutTensorJson: writes the elements of an output as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "server/request/reply.h"

namespace mpsd {

// The form of the elements in the text.
enum class DataForm {
  kArray,         // [1,2,3], flat, whatever the shape
  kBareIfSingle,  // 1 if there is one element; else as above
};

// Appends the elements. INVALID_ARGUMENT, which ends the request, if they have no form in JSON:
// FP16, BF16, a real number that is not finite, a text that is not UTF-8. The error text says that
// the client can have these binary. RESOURCE_EXHAUSTED if `out` would exceed about `most_bytes`: an
// element of one byte may take six in JSON. INTERNAL if a BYTES tensor does not match its shape.
// After an error `out` has a part of the elements. Thread-safe.
absl::Status PutTensorJson(const AnswerOutput& output, DataForm form, size_t most_bytes,
                           std::string* out);

}  // namespace mpsd
