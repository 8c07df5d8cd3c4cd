// CheckPrecisionThere: whether a device has the arithmetic that an order asks for. Pure.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/link/precision.h"

namespace mpsd {

// FAILED_PRECONDITION if no such device computes in `precision`; the text says what to use instead.
// TF32 is only on cuda, int8 only on the cpu. Thread-safe.
absl::Status CheckPrecisionThere(Precision precision, absl::string_view device);

}  // namespace mpsd
