// MemberFaults: whether a graph's models have the tensors that it names.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "server/request/graph/step_graph.h"

namespace mpsd {

// A step's model. A config may give a part of the spec, and the model's file the rest at load;
// unknown facts are not compared.
struct Member {
  const ModelSpec* spec = nullptr;  // null: unknown
  bool is_complete = true;
  uint32_t most_rows = 0;  // limit of a request's rows, if that may exceed a batch
};

// Compares the graph and its model's spec `whole` with the specs of its members, one a step: names,
// required inputs, datatypes, shapes with the batch dim, batches. Dims fit if they are equal or one
// is open; each request's step checks an open one. REQUIRES: the graph has no fault. Pure.
//
// If the model batches, its members must take as many rows. If not, its tensors include a batching
// member's batch dim.
std::vector<StepFault> MemberFaults(const StepGraph& graph, const ModelSpec& whole,
                                    absl::Span<const Member> members);

}  // namespace mpsd
