// Preflight: refuses to serve on another libtorch than the one that was meant.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/model/torch/torch_options.h"

namespace mpsd {

// What is loaded, and what this binary was compiled against.
struct RuntimeFacts {
  std::string compiled_version;  // of the headers
  std::string loaded_version;    // of the library; empty when it does not tell
  std::string library_path;
  std::string kind;  // the name of its RuntimeKind
};

// FAILED_PRECONDITION names what differs: the library is not of the headers' version (their classes
// would not fit), or not of the version, path or kind that the model's parameters ask for. Pure.
absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected);

}  // namespace mpsd
