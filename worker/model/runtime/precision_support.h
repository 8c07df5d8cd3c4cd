// CheckPrecisionThere: whether a device has the arithmetic that an order asks for. Pure.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/link/precision.h"

namespace mpsd {

// FAILED_PRECONDITION where no device of this kind computes in `precision`, with what to say
// instead: TF32 is of cuda alone, and int8 of the cpu. Others compute everywhere, if not everywhere
// fast. Knows no libtorch, so it is tested without one. Thread-safe.
absl::Status CheckPrecisionThere(Precision precision, absl::string_view device);

}  // namespace mpsd
