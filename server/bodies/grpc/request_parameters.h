// RequestParameters: the parameters of a request and of its tensors, for every transport.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/bodies/grpc/tensor_forms.h"
#include "server/request/infer_message.h"

namespace mpsd {

// A fault becomes InferMessage::parameter_error, which Validate() refuses. Pure functions.

// Reads "timeout", "priority", "prompt_name", "sequence_…" and names that begin with "triton_".
// Others pass. Overwrites the message's parameter_error, timeout_us, priority, wants_final_flag,
// texts and sequence.
void DescribeParameters(const ParameterMap& parameters, InferMessage* message);

// The forms that tensors' parameters ask for. Thread-compatible.
struct TensorFormLists {
  std::vector<ClassRequest> classes;
  std::vector<RegionUse> regions;

  TensorForms View() const { return {classes, regions}; }
  void Clear() {
    classes.clear();
    regions.clear();
  }
};

// For output number `index`. `lists` gets views of `parameters` and `output`.
void DescribeOutputForms(const ParameterMap& parameters, absl::string_view output, size_t index,
                         InferMessage* message, TensorFormLists* lists);

// For input number `index`. True if the input lies in a region, or its parameters try to say so.
bool DescribeInputForms(const ParameterMap& parameters, absl::string_view input, size_t index,
                        InferMessage* message, TensorFormLists* lists);

}  // namespace mpsd
