// torchscript_spec: the spec of a TorchScript model, from its archive and the order.
//
// A TorchScript file names forward's arguments, but no datatypes, shapes or outputs. These come
// from an mpsd.json in the archive, or from the config; outputs may also come from trial runs. Each
// part that the config gives wins, so that an operator can correct a file.
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
// archive's. The spec is decoupled if either says so. Its task comes from the archive, and the
// front end compares it with the config's. The text `archive_json` is the archive's mpsd.json,
// empty if there is none. The `examples` are inputs that forward could have, as
// TorchScriptProgram::InputExamples() writes them. The result has inputs; outputs may still be
// missing, to be learned by trial runs. INVALID_ARGUMENT tells the operator what to do: correct the
// archive's JSON, or name the inputs, with the examples as flags to copy. Pure.
absl::StatusOr<ModelSpec> MergeSpecs(const LoadOrder& order, absl::string_view archive_json,
                                     const std::vector<std::string>& examples);

// The index of forward's argument for each input: by name if every input has the name of an
// argument, otherwise by position. INVALID_ARGUMENT if there are more inputs than arguments. With
// `by_name`, INVALID_ARGUMENT names an input that has the name of no argument. Pure.
absl::StatusOr<std::vector<size_t>> MatchArguments(const std::vector<TensorSpec>& inputs,
                                                   const std::vector<std::string>& arguments,
                                                   bool by_name);

}  // namespace mpsd
