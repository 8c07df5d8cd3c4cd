// DetectRuntimeKind: tells by its symbols which libtorch the process runs on.
//
// No version tells whether a build lets several threads use mps. But each kind of libtorch has a
// function that the others lack. The answer decides how many lanes are safe (mps_policy.h).
#pragma once

#include "absl/functional/function_ref.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Whether the process has that mangled name.
using SymbolLookup = absl::FunctionRef<bool(const char* symbol)>;

// kStock if there is no such function, as in every libtorch without mps. Pure except for
// `has_symbol`.
RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol);

}  // namespace mpsd
