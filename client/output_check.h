// OutputCheck: whether an output of an answer fits itself.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/tensor.h"

namespace mpsd::client {

// INTERNAL names an output of an unknown datatype, or whose bytes do not fit datatype and shape.
// `datatype` is the name that the server sent. UnpackBytes() checks lengths inside BYTES. Pure,
// thread-safe.
absl::Status CheckOutput(const InferOutput& output, absl::string_view datatype);

}  // namespace mpsd::client
