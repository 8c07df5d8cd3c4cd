// TensorForms: tensors in clients' memory, and outputs as classes.
#pragma once

#include <google/protobuf/map.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/inference.pb.h"
#include "server/request/reply.h"

namespace mpsd {

// RequestWire reads these forms (step 2). The exchange keeps them until the request ends, and
// applies them to inputs before admission and to each answer before it is written (step 13). No
// output has both forms.

// An output's parameter "classification".
struct ClassRequest {
  absl::string_view output;  // a view into the message
  int64_t count = 0;         // above 0; a smaller tensor gives all its elements
};

// A tensor's parameters about a region, which RequestRegions checks.
//
//   the region that the client registered     |-----------------------------------|
//   shared_memory_offset 4096                 |--------->
//   shared_memory_byte_size 1024                        |====| this tensor
struct RegionUse {
  bool is_output = false;
  size_t tensor = 0;         // an index into the message's inputs or outputs
  absl::string_view region;  // empty: none
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// The spans live as long as the message. Thread-compatible.
struct TensorForms {
  absl::Span<const ClassRequest> classes;
  absl::Span<const RegionUse> regions;
};

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Reads "shared_memory_region", "…_offset" and "…_byte_size" into `use`, whose view lives as long
// as the parameters. The caller sets `is_output` and `tensor`. Without a region the others are
// refused; with one the size is required. Returns why the parameters are refused
// (INVALID_ARGUMENT), in words that clients match on, or an empty text. Pure.
std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor, RegionUse* use);

// Classes of all outputs and rows of an answer. They are sorted on a thread of many clients.
inline constexpr size_t kMaxClasses = 1 << 18;

// Per output, the label of each element of a row.
using ClassLabels = std::map<std::string, std::vector<std::string>>;

// Replaces each wanted output of `answer` by a BYTES tensor of its `count` largest elements,
// "value:index" or "value:index:label". If the model batches, each row has its own:
//
//   FP32 [2,3]  0.1 0.7 0.2 | 0.5 0.2 0.3   with a count of 2 becomes
//   BYTES [2,2]  "0.700000:1" "0.200000:2" | "0.500000:0" "0.300000:2"
//
// Equal elements keep their order, and a NaN is below every number. Takes time in proportion to the
// output and its classes. `storage` keeps the bytes and must live until the answer was written; a
// deque never moves them. Sets the answer's memory to null, so that all outputs are copied. Skips
// an output that is not there. INVALID_ARGUMENT, with the answer partly changed, for BOOL, FP16,
// BF16 and BYTES, and beyond kMaxClasses. Pure.
absl::Status Classify(absl::Span<const ClassRequest> wanted, const ClassLabels& labels,
                      bool batches, Answer* answer, std::deque<std::string>* storage);

}  // namespace mpsd
