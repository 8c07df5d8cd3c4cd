// DetectRuntimeKind: tells which libtorch the process runs on from the symbols it has.
#pragma once

#include "absl/functional/function_ref.h"
#include "proto/link/runtime_kind.h"

namespace mpsd {

// Says whether the process has a symbol of that name.
using SymbolLookup = absl::FunctionRef<bool(const char* symbol)>;

// Pure. A libtorch without MPS is of the stock kind.
RuntimeKind DetectRuntimeKind(SymbolLookup has_symbol);

}  // namespace mpsd
