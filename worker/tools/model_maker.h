// model_maker: makes small TorchScript models for demos, tests and benchmarks, with libtorch alone.
//
// All functions block until one file is written. They return an error of libtorch as UNKNOWN, with
// the path. Thread-compatible.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// Names such as "identity" and "mlp_1024x6", in the order of making; the large ones only if
// `large`.
std::vector<std::string> MadeModels(bool large);

// The weights come from a fixed seed. NOT_FOUND for an unknown name.
absl::Status MakeModel(absl::string_view name, const std::string& path);

// Writes a model that keeps its intermediate result in one buffer: right on one lane, wrong on
// several.
absl::Status MakeRacyModel(const std::string& path);

// A worker refuses a model in training mode unless it is told to serve such models.
absl::Status MakeTrainingModel(const std::string& path);

// Writes a model without weights. `source` defines forward(self, …). `spec_json` is the archive's
// mpsd.json; if it is empty, the loader has to learn the spec.
absl::Status MakeScript(absl::string_view source, absl::string_view spec_json,
                        const std::string& path);

}  // namespace mpsd
