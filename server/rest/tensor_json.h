// PutTensorJson: the elements of an output as JSON.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "server/request/reply.h"

namespace mpsd {

// How the elements stand in the text.
enum class DataForm {
  kArray,         // [1,2,3], flat, whatever the shape
  kBareIfSingle,  // 1 where there is one element; else as above
};

// Appends the elements. INVALID_ARGUMENT, which ends the request, for what has no form in JSON:
// FP16, BF16, a real number that is not finite, a text that is not UTF-8. The client can have all
// of these binary, which the text says. RESOURCE_EXHAUSTED where `out` would have more than about
// `most_bytes`: an element of one byte may take six in JSON. INTERNAL where a BYTES tensor does not
// hold what its shape says. `out` has a part of the elements then. Thread-safe.
absl::Status PutTensorJson(const AnswerOutput& output, DataForm form, size_t most_bytes,
                           std::string* out);

}  // namespace mpsd
