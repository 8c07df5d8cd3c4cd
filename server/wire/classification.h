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

// One output's parameter "classification": the client wants classes instead of the tensor. Read by
// RequestWire, applied by the exchange to each answer.
struct ClassRequest {
  absl::string_view output;  // its name, a view into the message
  int64_t count = 0;         // above 0; a tensor with fewer elements gives all of them
};

// Replaces each wanted output of `answer` by a BYTES tensor: the texts "value:index" of its `count`
// largest elements, the largest first. When the model batches, each row gets its own:
//
//   FP32 [2,3]  0.1 0.7 0.2 | 0.5 0.2 0.3   with a count of 2 becomes
//   BYTES [2,2]  "0.700000:1" "0.200000:2" | "0.500000:0" "0.300000:2"
//
// Equal elements keep their order, and a NaN is below every number: every output has one answer.
// Takes time and memory in proportion to the output, on the thread that gives the answer. `storage`
// keeps the new bytes, and must live until the answer was written; a deque, so that bytes stay
// where they are when more are added. Sets the answer's memory to null, so that all its outputs are
// copied. An output that the answer does not have is passed over. INVALID_ARGUMENT, which ends the
// request, for a datatype whose elements cannot be ordered: BOOL, FP16, BF16 and BYTES. The answer
// is then changed in part. Pure.
absl::Status Classify(absl::Span<const ClassRequest> wanted, bool batches, Answer* answer,
                      std::deque<std::string>* storage);

}  // namespace mpsd
