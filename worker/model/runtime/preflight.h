// preflight: refuses to serve on a libtorch other than the intended one, or with its profiler on.
//
// The dynamic linker takes the first libtorch that it finds: LD_LIBRARY_PATH, an update of Python's
// packages or a copied binary can put another one in the place of the one that was tested. Such a
// library loads, and then computes wrong answers or crashes.
//
// libtorch also has a profiler for mps that two variables of the environment turn on,
// PYTORCH_MPS_TRACE_SIGNPOSTS and PYTORCH_MPS_LOG_PROFILE_INFO. The profiler is not thread-safe,
// and a variable that was once exported is easily forgotten.
//
// TorchRuntime::Create() asks for both before the model's file is opened, and the worker does not
// serve after an objection: loading fails with FAILED_PRECONDITION and the text. The environment is
// that which the worker has from the daemon. This guards against mistakes of an operator and not
// against a library that means harm, whose code has run by then.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "worker/model/runtime/torch_options.h"

namespace mpsd {

// The libtorch that is loaded, and the one that this binary was compiled against. A value, which
// LoadedRuntime() reads off this process; tests make theirs up.
struct RuntimeFacts {
  std::string compiled_version;  // of the headers
  std::string loaded_version;    // of the library; empty when it does not say
  std::string library_path;
  std::string kind;  // the name of its RuntimeKind
};

// FAILED_PRECONDITION names the first difference, for the operator. A parameter of the model that
// is empty asks for nothing.
//
//   the library's   must be                          or else
//   version         that of the headers              their classes would not fit the library
//   version         the parameter libtorch_version   the model was tested with another one
//   path            begin with libtorch_path         likewise, by the place where it was installed
//   kind            the parameter runtime_kind       likewise, by its patches
//
// Versions are compared without what follows a plus: "2.11.0+cu130" is 2.11.0. A library that does
// not tell its version is not held to that of the headers; but then no version that the parameter
// asks for is the library's. The text names the path of the library, so it is not for clients.
// Pure.
absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected);

// Why a worker must not serve with this many lanes on `device`, with the two ways to mend it, for
// the operator; names the first variable that is set. Empty when nothing speaks against it: another
// device, a single lane, or both variables unset, empty or "0". `lanes` is what the order asks for,
// before anybody has looked at the model: in the end fewer may run. The parameter `profiler` of a
// model can allow the profiler all the same: the caller sees to that. `variable` returns a variable
// of the environment, null if it is unset; tests pass their own. Pure but for `variable`.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

}  // namespace mpsd
