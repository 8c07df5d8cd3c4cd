// aoti_spec: the spec of an AOTInductor package, from its metadata and the order. Pure, without
// archive or libtorch. The metadata is untrusted, and every value is checked.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "proto/link/census.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// The texts of the package's *_metadata.json, by key.
using PackageMetadata = std::map<std::string, std::string>;

// A package's facts about itself. worker/tools/export_model.py writes all of them; stock tools
// write only device and machine.
struct PackageFacts {
  ModelSpec spec;
  Census census;
  std::string device;         // "cpu", "cuda"; empty when the package does not say
  std::string machine;        // "x86_64"; empty when the package does not say
  bool writes_inputs = true;  // false only if the package says so
};

// INVALID_ARGUMENT names the malformed part.
absl::StatusOr<PackageFacts> ReadPackageFacts(const PackageMetadata& metadata);

// FAILED_PRECONDITION when the package was compiled for another device ("cpu", "cuda:0") or
// machine. A package that does not say fits.
absl::Status CheckPackageFits(const PackageFacts& facts, const std::string& device,
                              const std::string& machine);

// INVALID_ARGUMENT unless the package stays as it was saved: its code and its weights were compiled
// together.
absl::Status CheckPackagePrecision(Precision precision);

// The package's spec, with each part that the order gives (batch size, inputs, outputs, pad) in
// place of its own. INVALID_ARGUMENT: inputs or outputs are missing, with the stanza to add to the
// config; or a tensor is BYTES, which packages do not know.
absl::StatusOr<ModelSpec> MergePackageSpec(const LoadOrder& order, const PackageFacts& facts);

}  // namespace mpsd
