// Classification: outputs for which a client asked for the largest elements instead of all.
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

// Replaces each of these outputs by the BYTES "value:index" of its `count` largest elements, the
// largest first, of each row when the model batches. `storage` keeps their bytes; the answer's
// memory is let go of, so that all outputs are copied. INVALID_ARGUMENT for a datatype whose
// elements have no order here. Pure.
absl::Status Classify(absl::Span<const ClassRequest> wanted, bool batches, Answer* answer,
                      std::deque<std::string>* storage);

}  // namespace mpsd
