// Makes small TorchScript models for demos, tests and benchmarks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// "identity", "mlp_1024x6", …: in the order they are made; the large ones only when asked for.
std::vector<std::string> MadeModels(bool large);

// Writes the model of that name to `path`, with its spec in the archive. The weights come from a
// fixed seed: a model is the same wherever it is made. NOT_FOUND for a name that there is not.
absl::Status MakeModel(absl::string_view name, const std::string& path);

// Writes a model that keeps its intermediate result in one buffer of its own: right on one lane,
// wrong on several at once. For tests of what is to catch such models.
absl::Status MakeRacyModel(const std::string& path);

// Writes a model with one linear layer that is in training mode.
absl::Status MakeTrainingModel(const std::string& path);

// Writes a model without weights: `source` is TorchScript that defines forward(self, …), and
// `spec_json` the content of the archive's mpsd.json, none when empty.
absl::Status MakeScript(absl::string_view source, absl::string_view spec_json,
                        const std::string& path);

}  // namespace mpsd
