// TypedContents: the typed contents of an input, measured before they are parsed, then turned into
// raw bytes.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

// A client may send a tensor's elements as raw bytes, or as typed contents: a protobuf field of
// numbers or strings, one field for each group of datatypes. Typed contents are convenient to write
// and costly to read, since protobuf makes objects of them. RequestWire measures them first, then
// has protobuf parse them, then makes raw bytes of them, which go the way of all payloads.

// How much memory the typed contents of a request take. The two sizes differ: a varint of one byte
// becomes an element of up to eight bytes, and an empty string, two bytes on the wire, takes some
// fifty in memory. RequestWire bounds the second by the largest message, so that 64 MiB of empty
// strings do not become gigabytes.
struct ContentsSize {
  uint64_t wire_bytes = 0;    // of the elements with their keys and lengths
  uint64_t parsed_bytes = 0;  // in memory, once protobuf has parsed them
};

// Measures the typed contents of all inputs. `fields` holds the serialized fields of a
// ModelInferRequest. Where they are malformed, counts the contents before the mistake, which
// protobuf would have parsed until it found the mistake too. Walks the bytes without copying them.
// Pure.
ContentsSize MeasureContents(absl::string_view fields);

// The raw bytes of the input: numbers cut to the width of the datatype, without a check of their
// range; strings each with its length before it. NOT_FOUND when there is no element.
// INVALID_ARGUMENT when a field is filled that is not the one of the input's datatype, also where
// that one is filled too; its text is the datatype of the wrong field, and the caller makes the
// client's answer of it. FP16 and BF16 have no typed field. Pure.
absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input);

}  // namespace mpsd
