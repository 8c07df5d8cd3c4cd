// aoti_spec: the spec of an AOTInductor package, from its metadata and the order.
//
// Pure: knows neither the archive nor libtorch, so it is tested without packages. The metadata is
// part of an untrusted file, and every value is checked.
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

// A .pt2's facts about itself. A package exported with worker/tools/export_model.py gives all of
// them under the key "mpsd"; stock tools write only the device and the machine.
struct PackageFacts {
  ModelSpec spec;
  Census census;
  std::string device;         // "cpu", "cuda"; empty when the package does not say
  std::string machine;        // "x86_64"; empty when the package does not say
  bool writes_inputs = true;  // false only if the package says so
};

// INVALID_ARGUMENT names the malformed part of the metadata. Pure.
absl::StatusOr<PackageFacts> ReadPackageFacts(const PackageMetadata& metadata);

// FAILED_PRECONDITION when the package was compiled for a device or machine other than `device`
// ("cpu", "cuda:0") and `machine`. A package that does not say fits. Pure.
absl::Status CheckPackageFits(const PackageFacts& facts, const std::string& device,
                              const std::string& machine);

// INVALID_ARGUMENT unless the order leaves the package as it was saved: its code and its weights
// were compiled together. Pure.
absl::Status CheckPackagePrecision(Precision precision);

// The spec of `facts`, with each part that the order gives (batch size, inputs, outputs, pad) in
// place of the package's own. INVALID_ARGUMENT: inputs or outputs are still missing, and the text
// has the stanza to add to the config; or a tensor is BYTES, which packages do not know. Pure.
absl::StatusOr<ModelSpec> MergePackageSpec(const LoadOrder& order, const PackageFacts& facts);

}  // namespace mpsd
