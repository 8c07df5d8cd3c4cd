// MemberFaults: whether the models of a graph have the tensors that it names, and these fit.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/model_spec.h"
#include "server/graph/step_graph.h"

namespace mpsd {

// What is known of the model of a step. A config may say a part only, and the model's file says the
// rest when it is loaded: what is not known is not compared.
struct Member {
  const ModelSpec* spec = nullptr;  // null: nothing is known
  bool is_complete = true;
  uint32_t most_rows = 0;  // of a request, where that may be more than a batch
};

// Compares the steps of a model, whose spec is `whole`, with the specs of their models, one for
// each step: the names of inputs and outputs, required inputs that no tensor is given to,
// datatypes, shapes with the batch dim, and batches. Two shapes fit where each dim is the same or
// open on one side; what an open dim turns out to be, each request's step checks. REQUIRES: the
// graph was made without a fault. Pure.
//
// A model whose requests are batched has steps whose models take at least as many rows. One that
// does not batch may have such steps too: its tensors have the batch dim among theirs.
std::vector<StepFault> MemberFaults(const StepGraph& graph, const ModelSpec& whole,
                                    absl::Span<const Member> members);

}  // namespace mpsd
