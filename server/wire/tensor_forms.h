// TensorForms: the forms other than plain bytes in which a client sends its inputs and wants its
// outputs.
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

// A tensor may have parameters: an input or an output may lie in memory of the client, an output
// may be wanted as classes. No output is both. RequestWire reads the forms with the message (step
// 2); the exchange keeps them until the request ends, and applies them to inputs before admission
// and to each answer before it is written (step 13).

// One output's parameter "classification": the client wants classes instead of the tensor. Read by
// RequestWire, applied by the exchange to each answer.
struct ClassRequest {
  absl::string_view output;  // its name, a view into the message
  int64_t count = 0;         // above 0; a tensor with fewer elements gives all of them
};

// What one tensor of a request says of a region. RequestWire reads it off the tensor's parameters;
// RequestRegions finds the region among those of the client's connection and copies. Nothing here
// is checked against a region: name, offset and size are what the client wrote.
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

// What a client said of its tensors that InferMessage does not hold. The spans live as long as the
// message. Thread-compatible.
struct TensorForms {
  absl::Span<const ClassRequest> classes;  // outputs of which only the largest elements are wanted
  absl::Span<const RegionUse> regions;     // inputs and outputs that lie in the client's own memory
};

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Reads the parameters "shared_memory_region", "…_offset" and "…_byte_size" of a tensor into `use`,
// whose view lives as long as the parameters; `is_output` and `tensor` are the caller's to set. A
// tensor without the first parameter lies in no region, and must not have the others; one with it
// must have a size, and its offset is 0 where none is given. Returns why the parameters are
// refused, in words that clients match on, and the request is INVALID_ARGUMENT; empty when they are
// accepted. Pure.
std::string ReadRegionUse(const ParameterMap& parameters, absl::string_view tensor, RegionUse* use);

// The labels of a model's classes: by output, the label of each element of a row.
using ClassLabels = std::map<std::string, std::vector<std::string>>;

// Replaces each wanted output of `answer` by a BYTES tensor: the texts "value:index" of its `count`
// largest elements, the largest first; "value:index:label" where the element has a label. When the
// model batches, each row gets its own:
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
absl::Status Classify(absl::Span<const ClassRequest> wanted, const ClassLabels& labels,
                      bool batches, Answer* answer, std::deque<std::string>* storage);

}  // namespace mpsd
