// preflight: refuses to serve on a libtorch other than the intended one, or with its profiler on.
//
// The dynamic linker takes the first libtorch that it finds. So LD_LIBRARY_PATH, an update or a
// copied binary can replace the tested library, and answers become wrong. The profiler for mps,
// which two variables turn on, is not thread-safe.
//
// TorchRuntime::Create() checks both before the model's file is opened; loading then fails with
// FAILED_PRECONDITION. The checks guard against mistakes, not against a malicious library.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "worker/model/runtime/torch_options.h"

namespace mpsd {

// The loaded libtorch, and the one of this binary's headers. A value; LoadedRuntime() reads it.
struct RuntimeFacts {
  std::string compiled_version;  // version of the headers
  std::string loaded_version;    // empty if the library does not tell
  std::string library_path;
  std::string kind;  // name of the library's RuntimeKind
};

// FAILED_PRECONDITION names the first difference, and the library's path: not for clients. An empty
// parameter is not checked.
//
//   the library's   must                             because otherwise
//   version         be of the headers' minor         their classes do not fit the library
//   version         be libtorch_version              the model was tested with another one
//   path            begin with libtorch_path         the model was tested with another one
//   kind            be runtime_kind                  the model was tested with other patches
//
// Versions are compared without what follows a plus. A library that does not tell its version is
// not compared with the headers, and differs from any libtorch_version. Pure.
absl::Status CheckRuntime(const RuntimeFacts& facts, const TorchOptions& expected);

// Why a worker must not serve with `lanes` lanes on `device`, with the two ways to fix it, for the
// operator. Empty on another device, with a single lane, or if both variables are unset, empty or
// "0". The caller checks the parameter `profiler`. `variable` returns a variable of the environment
// or null. Pure except for `variable`.
std::string ProfilerObjection(absl::string_view device, uint32_t lanes,
                              absl::FunctionRef<const char*(const char*)> variable);

}  // namespace mpsd
