// RequestParameters: the parameters of a request and of its tensors, in whatever transport they
// came.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/request/infer_message.h"
#include "server/wire/tensor_forms.h"

namespace mpsd {

// The readers of step 2 turn the parameters that a client wrote into a ParameterMap and have it
// read here, so that a parameter means the same over gRPC and over HTTP. A fault becomes
// InferMessage::parameter_error, which Validate() refuses in its turn. Pure functions.

// Reads the request's own parameters: "timeout", "priority", "prompt_name", "sequence_…" and those
// that begin with "triton_". Others pass. Sets the message's parameter_error, timeout_us, priority,
// wants_final_flag, texts and sequence, in place of what they were.
void DescribeParameters(const ParameterMap& parameters, InferMessage* message);

// The forms that the tensors' parameters ask for; TensorForms is a view of it. Thread-compatible.
struct TensorFormLists {
  std::vector<ClassRequest> classes;
  std::vector<RegionUse> regions;

  TensorForms View() const { return {classes, regions}; }
  void Clear() {
    classes.clear();
    regions.clear();
  }
};

// Reads the parameters of the request's output number `index`. The views in `lists` are of
// `parameters` and `output`.
void DescribeOutputForms(const ParameterMap& parameters, absl::string_view output, size_t index,
                         InferMessage* message, TensorFormLists* lists);

// Reads the parameters of the request's input number `index`. True when it lies in a region, or its
// parameters say so and are at fault.
bool DescribeInputForms(const ParameterMap& parameters, absl::string_view input, size_t index,
                        InferMessage* message, TensorFormLists* lists);

}  // namespace mpsd
