// CheckPrecisionThere: whether a device has the arithmetic that an order asks for. Pure.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/link/precision.h"

namespace mpsd {

// FAILED_PRECONDITION if no device of this kind computes in `precision`; the text says what to use
// instead. TF32 exists only on cuda, and int8 only on the cpu. Other precisions work everywhere,
// though not fast everywhere. Knows no libtorch, so it is tested without one. Thread-safe.
absl::Status CheckPrecisionThere(Precision precision, absl::string_view device);

}  // namespace mpsd
