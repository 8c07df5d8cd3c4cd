// model_maker: makes small TorchScript models for demos, tests and benchmarks.
//
// Models are built from source text and tensors with libtorch alone, so a checkout needs neither
// Python nor a download. The program mpsd-make-models calls MakeModel() for each of MadeModels();
// tests make their models in a temporary folder. A model's spec, its mpsd.json, lies in the
// archive.
//
// All functions write one file and block until it is written. They return an error of libtorch as
// UNKNOWN, with the path. Thread-compatible.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// The names of the models, such as "identity" and "mlp_1024x6", in the order in which they are
// made; the large ones only if `large`.
std::vector<std::string> MadeModels(bool large);

// Writes the model of that name to `path`, with its spec in the archive. The weights come from a
// fixed seed, so a model is the same everywhere. NOT_FOUND for an unknown name.
absl::Status MakeModel(absl::string_view name, const std::string& path);

// Writes a model that keeps its intermediate result in one buffer: correct on one lane, wrong on
// several at once. For tests of the self-check, which must find such models.
absl::Status MakeRacyModel(const std::string& path);

// Writes a model with one linear layer, in training mode. A worker refuses it unless it is told to
// serve such models.
absl::Status MakeTrainingModel(const std::string& path);

// Writes a model without weights, for a test that needs one special line of TorchScript. `source`
// defines forward(self, …). `spec_json` is the archive's mpsd.json. If it is empty, the archive has
// none, and the loader has to learn the spec. The two are not checked against each other.
absl::Status MakeScript(absl::string_view source, absl::string_view spec_json,
                        const std::string& path);

}  // namespace mpsd
