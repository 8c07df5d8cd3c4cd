// preflight: refuses to serve on a libtorch other than the intended one.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "worker/model/torch/torch_options.h"

namespace mpsd {

// The libtorch that is loaded, and the one that this binary was compiled against.
struct RuntimeFacts {
  std::string compiled_version;  // of the headers
  std::string loaded_version;    // of the library; empty when it does not say
  std::string library_path;
  std::string kind;  // the name of its RuntimeKind
};

// FAILED_PRECONDITION names the difference: the library has another version than the headers, whose
// classes would not fit it, or not the version, path or kind that the model's parameters ask for.
// Decides only; the caller does not serve after an error. Pure.
absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected);

}  // namespace mpsd
