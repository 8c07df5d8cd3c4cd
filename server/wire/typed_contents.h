// Typed contents of an input tensor, as the raw bytes that they stand for.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "proto/inference.pb.h"

namespace mpsd {

// NOT_FOUND when no element is there. INVALID_ARGUMENT, with the datatype that the filled field is
// of as its text, when that is not the input's own. FP16 and BF16 have no typed field. Thread-safe.
absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input);

}  // namespace mpsd
