// torchscript_spec: the spec of a TorchScript model, from its archive and the order.
//
// A TorchScript file tells the names of forward's arguments and nothing of datatypes, shapes or
// outputs. These come from an mpsd.json in the archive, or from the config, or, outputs only, from
// trial runs. The config has the last word, part by part, so that an operator can correct a file
// without writing it anew.
//
// Pure: knows no libtorch, so it is tested without models. The archive is untrusted.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// Merges the two: each part that the order gives (batch size, inputs, outputs, pad) replaces the
// archive's; it is decoupled if either says so, and its task is the archive's word, which the front
// end compares with the config's. `archive_json` is the archive's mpsd.json, empty when it has
// none; `examples` are inputs that forward could have, as TorchScriptProgram::InputExamples()
// writes them. The result has inputs; outputs may still be missing, to be learned by trial runs.
// INVALID_ARGUMENT tells the operator what to do: mend the archive's JSON, or name the inputs, with
// the examples as flags to copy. Pure.
absl::StatusOr<ModelSpec> MergeSpecs(const LoadOrder& order, absl::string_view archive_json,
                                     const std::vector<std::string>& examples);

// The index of forward's argument for each input: by name when every input has the name of an
// argument, otherwise by position. INVALID_ARGUMENT when there are more inputs than arguments.
// Pure.
absl::StatusOr<std::vector<size_t>> MatchArguments(const std::vector<TensorSpec>& inputs,
                                                   const std::vector<std::string>& arguments);

}  // namespace mpsd
