// Classify: replaces outputs by their largest elements, where the client asked for classes.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/reply.h"

namespace mpsd {

// One output's parameter "classification".
struct ClassRequest {
  absl::string_view output;
  int64_t count = 0;
};

// Replaces each wanted output of `answer` by a BYTES tensor: the texts "value:index" of its `count`
// largest elements, the largest first. When the model batches, each row gets its own. `storage`
// keeps the new bytes. Sets the answer's memory to null, so that all its outputs are copied.
// INVALID_ARGUMENT for a datatype whose elements cannot be ordered. Pure.
absl::Status Classify(absl::Span<const ClassRequest> wanted, bool batches, Answer* answer,
                      std::deque<std::string>* storage);

}  // namespace mpsd
