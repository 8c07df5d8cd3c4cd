// MemberFaults: whether the models of a graph have the tensors that it names, and whether these
// fit.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "server/request/graph/step_graph.h"

namespace mpsd {

// The known facts about a step's model. A config may give only a part, and the model's file the
// rest at load. Unknown facts are not compared.
struct Member {
  const ModelSpec* spec = nullptr;  // null: nothing is known
  bool is_complete = true;
  uint32_t most_rows = 0;  // most rows per request, if that may exceed a batch
};

// Compares the steps of a model, whose spec is `whole`, with the specs of their models, one per
// step. Checked are names of inputs and outputs, required inputs without a tensor, datatypes,
// shapes with the batch dim, and batches. Two shapes fit if each dim is the same or open on one
// side; each request's step checks the length of an open dim. REQUIRES: the graph was made without
// a fault. Pure.
//
// If the model's requests are batched, its steps' models must take at least as many rows. A model
// that does not batch may also have batching steps: its tensors then include the batch dim.
std::vector<StepFault> MemberFaults(const StepGraph& graph, const ModelSpec& whole,
                                    absl::Span<const Member> members);

}  // namespace mpsd
