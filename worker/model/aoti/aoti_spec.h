// The spec of an AOTInductor package: what its metadata says, completed and overridden by the
// order.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "proto/link/census.h"
#include "proto/link/messages.h"
#include "proto/link/model_spec.h"

namespace mpsd {

using PackageMetadata = std::map<std::string, std::string>;

// What an .pt2 says of itself. Exported with worker/tools/export_model.py it says all of it under
// the key "mpsd"; stock tools write the device and the machine only.
struct PackageFacts {
  ModelSpec spec;
  Census census;
  std::string device;         // "cpu", "cuda"; empty when it does not say
  std::string machine;        // "x86_64"; likewise
  bool writes_inputs = true;  // unless it says that it does not
};

// INVALID_ARGUMENT names what of the metadata is malformed.
absl::StatusOr<PackageFacts> ReadPackageFacts(const PackageMetadata& metadata);

// FAILED_PRECONDITION when the package was compiled for another device or machine than `device`
// ("cpu", "cuda:0") and `machine`.
absl::Status CheckPackageFits(const PackageFacts& facts, const std::string& device,
                              const std::string& machine);

// The facts' spec with each part that the order says in its place. INVALID_ARGUMENT, with the
// stanza to add to the config, when inputs or outputs are still missing.
absl::StatusOr<ModelSpec> MergePackageSpec(const LoadOrder& order, const PackageFacts& facts);

}  // namespace mpsd
