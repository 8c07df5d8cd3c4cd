// SpreadRows: gives each text the answer of its row.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/request/reply.h"

namespace mpsd {

// Equal texts of a request are one row (TokenRows::row_of_text). Makes of an answer with a row for
// each different text one with a row for each text:
//
//   row_of_text 0 1 0 0   FP32 [2,3]  a a a | b b b   becomes
//                         FP32 [4,3]  a a a | b b b | a a a | a a a
//
// `storage` keeps the new bytes, and must live until the answer was written. Sets the answer's
// memory to null, so that all its outputs are copied. RESOURCE_EXHAUSTED, before anything is made,
// where the new bytes would be more than `bytes_max`: a few bytes of equal texts may ask for many
// rows. INTERNAL where the worker has changed lengths
// of BYTES since they were checked, so that they no longer fit; the answer is of no use then.
// REQUIRES: dim 0 of each output is its count of rows, which holds every number of `row_of_text`.
// Pure.
absl::Status SpreadRows(absl::Span<const uint32_t> row_of_text, uint64_t bytes_max, Answer* answer,
                        std::deque<std::string>* storage);

}  // namespace mpsd
