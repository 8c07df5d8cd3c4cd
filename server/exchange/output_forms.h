// OutputForms: the forms other than plain bytes in which a client wants the outputs of an answer.
#pragma once

#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "server/regions/request_regions.h"
#include "server/request/reply.h"
#include "server/wire/classification.h"
#include "server/wire/region_parameters.h"

namespace mpsd {

// What a client said of its tensors that InferMessage does not hold. The spans live as long as the
// message. Thread-compatible.
struct TensorForms {
  absl::Span<const ClassRequest> classes;  // outputs of which only the largest elements are wanted
  absl::Span<const RegionUse> regions;     // inputs and outputs that lie in the client's own memory
};

// Gives each output of the answer the form that the client wants. Classified outputs become texts,
// whose bytes `storage` keeps. Outputs for the client's memory are written there; those for a
// device's memory are only set aside, and RequestRegions::StoreToDevice() writes them later. A
// status ends the request. Called once an answer, from any thread; the answers of one request do
// not overlap.
absl::Status ApplyOutputForms(const TensorForms& forms, bool batches, RequestRegions* regions,
                              Answer* answer, std::deque<std::string>* storage);

}  // namespace mpsd
