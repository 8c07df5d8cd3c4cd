// SpreadRows: gives each text its own row of the answer.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/request/reply.h"

namespace mpsd {

// Equal texts of a request share a row (TokenRows::row_of_text):
//
//   row_of_text 0 1 0 0   FP32 [2,3]  a a a | b b b   becomes
//                         FP32 [4,3]  a a a | b b b | a a a | a a a
//
// `storage` keeps the bytes, and must live until the answer was written. Sets the answer's memory
// to null, so that all outputs are copied. RESOURCE_EXHAUSTED, before anything is made, beyond
// `bytes_max`: few equal texts may ask for many rows. INTERNAL if the worker changed checked
// lengths of BYTES; the answer is then useless. REQUIRES: dim 0 of each output is above every
// number in `row_of_text`. Pure.
absl::Status SpreadRows(absl::Span<const uint32_t> row_of_text, uint64_t bytes_max, Answer* answer,
                        std::deque<std::string>* storage);

}  // namespace mpsd
