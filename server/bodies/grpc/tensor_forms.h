// TensorForms: forms other than plain bytes for inputs that a client sends and outputs that it
// wants.
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

// Parameters may say that a tensor lies in the client's memory, or that an output is wanted as
// classes. No output is both. RequestWire reads these forms (step 2). The exchange keeps them until
// the request ends, and applies them to inputs before admission and to each answer before it is
// written (step 13).

// One output's parameter "classification": the client wants classes instead of the tensor.
struct ClassRequest {
  absl::string_view output;  // the output's name, a view into the message
  int64_t count = 0;         // above 0; a tensor with fewer elements gives all of them
};

// A tensor's parameters about a region, as the client wrote them. RequestRegions finds the region
// among the connection's own, checks and copies.
//
//   the region that the client registered     |-----------------------------------|
//   shared_memory_offset 4096                 |--------->
//   shared_memory_byte_size 1024                        |====| this tensor
struct RegionUse {
  bool is_output = false;
  size_t tensor = 0;         // index into the message's inputs or outputs
  absl::string_view region;  // the region's name; empty: the tensor lies in no region
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

// The parts of a client's tensors that InferMessage does not hold. The spans live as long as the
// message. Thread-compatible.
struct TensorForms {
  absl::Span<const ClassRequest> classes;  // outputs wanted as their largest elements only
  absl::Span<const RegionUse> regions;     // inputs and outputs in the client's own memory
};

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Reads the parameters "shared_memory_region", "…_offset" and "…_byte_size" of a tensor into `use`,
// whose view lives as long as the parameters. The caller sets `is_output` and `tensor`. A tensor
// without the first parameter lies in no region, and must not have the others. With it, a size is
// required, and the offset defaults to 0. Returns why the parameters are refused, in words that
// clients match on (the request is INVALID_ARGUMENT); empty if they are accepted. Pure.
std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor, RegionUse* use);

// The labels of a model's classes: per output, the label of each element of a row.
using ClassLabels = std::map<std::string, std::vector<std::string>>;

// Replaces each wanted output of `answer` by a BYTES tensor: the texts "value:index" of its `count`
// largest elements, the largest first. An element with a label gives "value:index:label". If the
// model batches, each row gets its own:
//
//   FP32 [2,3]  0.1 0.7 0.2 | 0.5 0.2 0.3   with a count of 2 becomes
//   BYTES [2,2]  "0.700000:1" "0.200000:2" | "0.500000:0" "0.300000:2"
//
// Equal elements keep their order, and a NaN is below every number, so the result is unique. Takes
// time and memory in proportion to the output, on the thread that gives the answer. The new bytes
// are kept in `storage`, which must live until the answer was written; a deque, so that they never
// move. Sets the answer's memory to null, so that all its outputs are copied. Skips an output that
// the answer does not have. INVALID_ARGUMENT, which ends the request, if the elements cannot be
// ordered: BOOL, FP16, BF16 and BYTES. The answer is then partly changed. Pure.
absl::Status Classify(absl::Span<const ClassRequest> wanted, const ClassLabels& labels,
                      bool batches, Answer* answer, std::deque<std::string>* storage);

}  // namespace mpsd
