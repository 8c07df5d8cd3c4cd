// torchscript_spec: the spec of a TorchScript model, from its archive and the order.
//
// Forward's code has no datatypes, shapes or outputs. They come from the archive's mpsd.json or the
// config; outputs may also come from trial runs. The archive is untrusted. Pure, without libtorch.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// Each part that the order gives (batch size, inputs, outputs, pad) replaces the archive's. The
// spec is decoupled if either says so. `archive_json` may be empty. `examples` are as from
// TorchScriptProgram::InputExamples(). The result may lack outputs. INVALID_ARGUMENT tells the
// operator to correct the archive's JSON, or to name the inputs, with the examples as flags to
// copy.
absl::StatusOr<ModelSpec> MergeSpecs(const LoadOrder& order, absl::string_view archive_json,
                                     const std::vector<std::string>& examples);

// The index of forward's argument for each input: by name if all inputs match by name, otherwise by
// position. INVALID_ARGUMENT if there are more inputs than arguments. With `by_name`,
// INVALID_ARGUMENT names an input that has the name of no argument.
absl::StatusOr<std::vector<size_t>> MatchArguments(const std::vector<TensorSpec>& inputs,
                                                   const std::vector<std::string>& arguments,
                                                   bool by_name);

}  // namespace mpsd
