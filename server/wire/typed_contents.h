// TypedContents: the typed contents of an input, turned into raw bytes.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/inference.pb.h"

namespace mpsd {

// The raw bytes of the input. NOT_FOUND when there is no element. INVALID_ARGUMENT when the filled
// field is not the one of the input's datatype; its text is the datatype of the filled field. FP16
// and BF16 have no typed field. Pure.
absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input);

}  // namespace mpsd
