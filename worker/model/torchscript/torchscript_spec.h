// The spec of a TorchScript model: what its archive says, completed and overridden by the order.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// `archive_json` is the archive's mpsd.json, empty when it has none; `arguments` are forward's.
// Each part that the order says (batch size, inputs, outputs, pad) replaces the archive's.
// The result has inputs; its outputs may still be missing. INVALID_ARGUMENT says what to do.
absl::StatusOr<ModelSpec> MergeSpecs(const LoadOrder& order, absl::string_view archive_json,
                                     const std::vector<std::string>& arguments);

// Which argument of forward each input is: by name when all inputs are named as arguments are, else
// by position.
absl::StatusOr<std::vector<size_t>> MatchArguments(const std::vector<TensorSpec>& inputs,
                                                   const std::vector<std::string>& arguments);

}  // namespace mpsd
