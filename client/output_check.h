// OutputCheck: whether an output of an answer fits itself. For the sources that read answers.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "client/tensor.h"

namespace mpsd::client {

// INTERNAL names an output of an unknown datatype. It also names one whose bytes, in the answer or
// in a region, are not as many as its datatype and shape say. The argument `datatype` is the name
// as the server sent it.
// The lengths inside BYTES are left to UnpackBytes(). Pure, thread-safe.
absl::Status CheckOutput(const InferOutput& output, absl::string_view datatype);

}  // namespace mpsd::client
