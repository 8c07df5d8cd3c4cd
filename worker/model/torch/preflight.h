// preflight: refuses to serve on a libtorch other than the intended one.
//
// The dynamic linker takes the first libtorch that it finds: LD_LIBRARY_PATH, an update of Python's
// packages or a copied binary can put another one in the place of the one that was tested. Such a
// library loads, and then computes wrong answers or crashes. TorchRuntime::Create() asks first,
// before the model is loaded, and the worker does not serve after an error.
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

// FAILED_PRECONDITION names the difference, for the operator: the library has another version than
// the headers, whose classes would not fit it; or it has not the version, the path or the kind that
// the model's parameters `libtorch_version`, `libtorch_path` (with which the path begins) and
// `runtime_kind` ask for. A parameter that is empty asks for nothing.
//
// Versions are compared without what follows a plus: "2.11.0+cu130" is 2.11.0. A library that does
// not tell its version is not held to that of the headers. Pure.
absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected);

}  // namespace mpsd
