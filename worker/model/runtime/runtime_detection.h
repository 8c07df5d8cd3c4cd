// DetectRuntimeKind: tells by its symbols which libtorch the process runs on.
//
// A version number does not say whether a build carries the patch that lets several threads use
// mps, and headers say only what was compiled against. But each kind of libtorch has a function
// that the others lack. The answer decides how many lanes are safe (mps_policy.h), and preflight
// compares it with what the operator expects.
#pragma once

#include "absl/functional/function_ref.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Says whether the process has a symbol of that mangled name. Tests pass their own.
using SymbolLookup = absl::FunctionRef<bool(const char* symbol)>;

// The kind whose function the process has. kStock if there is none, as in every libtorch without
// mps. Pure except for `has_symbol`, which is called at most three times.
RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol);

}  // namespace mpsd
