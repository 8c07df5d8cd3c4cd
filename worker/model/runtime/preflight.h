// preflight: refuses to serve on a libtorch other than the intended one, or with its profiler on.
//
// The dynamic linker takes the first libtorch that it finds. LD_LIBRARY_PATH, an update of Python's
// packages or a copied binary can replace the tested library with one that loads and then computes
// wrong answers or crashes.
//
// libtorch's profiler for mps is not thread-safe. Two environment variables turn it on,
// PYTORCH_MPS_TRACE_SIGNPOSTS and PYTORCH_MPS_LOG_PROFILE_INFO, and an exported variable is easily
// forgotten.
//
// TorchRuntime::Create() checks both before the model's file is opened. After an objection loading
// fails with FAILED_PRECONDITION and the text. The checks guard against an operator's mistakes, not
// against a malicious library, whose code has run by then.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "worker/model/runtime/torch_options.h"

namespace mpsd {

// The libtorch that is loaded, and the one that this binary was compiled against. A value.
// LoadedRuntime() reads it from this process; tests make up their own.
struct RuntimeFacts {
  std::string compiled_version;  // version of the headers
  std::string loaded_version;    // version of the library; empty if it does not tell
  std::string library_path;
  std::string kind;  // name of the library's RuntimeKind
};

// FAILED_PRECONDITION names the first difference, for the operator. An empty parameter of the model
// is not checked.
//
//   the library's   must                             because otherwise
//   version         be of the headers' minor         their classes do not fit the library
//   version         be libtorch_version              the model was tested with another one
//   path            begin with libtorch_path         the model was tested with another one
//   kind            be runtime_kind                  the model was tested with other patches
//
// Versions are compared without what follows a plus: "2.11.0+cu130" is 2.11.0. Patch releases of one
// minor version have the same classes, so 2.9.0 fits headers of 2.9.1. If the library does
// not tell its version, it is not compared with the headers, but any libtorch_version that the
// parameter asks for counts as different. The text names the path of the library, so it is not for
// clients. Pure.
absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected);

// Why a worker must not serve with `lanes` lanes on `device`, with the two ways to fix it, for the
// operator; names the first variable that is set. Empty when nothing speaks against it: another
// device, a single lane, or both variables unset, empty or "0". `lanes` is what the order asks for;
// in the end fewer may run. The model's parameter `profiler` can allow the profiler: the caller
// checks that. `variable` returns a variable of the environment, null if it is unset; tests pass
// their own. Pure except for `variable`.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

}  // namespace mpsd
