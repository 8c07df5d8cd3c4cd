// TypedContents: measures an input's typed contents before they are parsed, then makes raw bytes of
// them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

// A client may send a tensor as raw bytes, or as typed contents: a protobuf field of numbers or
// strings. Typed contents are costly to read, because protobuf makes objects of them. RequestWire
// measures them, has protobuf parse them, and then makes raw bytes of them.

// The size of a request's typed contents. A varint of one byte becomes an element of up to eight
// bytes, and an empty string, two bytes on the wire, takes about fifty in memory. RequestWire
// bounds parsed_bytes by the largest message, so that 64 MiB of empty strings do not become
// gigabytes.
struct ContentsSize {
  uint64_t wire_bytes = 0;    // the elements with their keys and lengths
  uint64_t parsed_bytes = 0;  // in memory, once protobuf has parsed them
};

// Measures the typed contents of all inputs. `fields` holds the serialized fields of a
// ModelInferRequest. If they are malformed, counts the contents before the mistake: protobuf, too,
// would parse those first. Walks the bytes without copying them. Pure.
ContentsSize MeasureContents(absl::string_view fields);

// The raw bytes of the input. Numbers are cut to the width of the datatype, without a range check.
// Each string has its length before it. NOT_FOUND if there is no element. INVALID_ARGUMENT if any
// field other than the datatype's is filled; its text is that field's datatype, from which the
// caller makes the client's answer. FP16 and BF16 have no typed field. Pure.
absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input);

}  // namespace mpsd
