// DetectRuntimeKind: tells which libtorch the process runs on from the symbols it has.
//
// A version number does not say whether a build carries the patch that lets several threads use
// mps, and headers say what was compiled against, not what was loaded. Each kind of libtorch has a
// function that the others have not; looking for these functions among the process's symbols asks
// the library itself. The answer decides how many lanes are safe (mps_policy.h), and
// preflight holds it against what the operator expects.
#pragma once

#include "absl/functional/function_ref.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Says whether the process has a symbol of that mangled name. A test passes its own.
using SymbolLookup = absl::FunctionRef<bool(const char* symbol)>;

// The kind whose function the process has; kStock when it has none of them, which includes every
// libtorch without mps. Pure but for `has_symbol`, which is called at most three times.
RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol);

}  // namespace mpsd
