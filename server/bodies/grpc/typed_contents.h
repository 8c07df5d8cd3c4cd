// TypedContents: measures an input's typed contents, and makes raw bytes of them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

// Typed contents are a protobuf field of numbers or strings. They are costly, because protobuf
// makes objects of them.

// A varint of one byte becomes up to eight bytes, and an empty string, two bytes on the wire, about
// fifty. RequestWire bounds parsed_bytes, so that 64 MiB of empty strings do not become gigabytes.
struct ContentsSize {
  uint64_t wire_bytes = 0;    // with keys and lengths
  uint64_t parsed_bytes = 0;  // once protobuf has parsed them
};

// Measures all inputs of a serialized ModelInferRequest. Malformed contents count up to the
// mistake, because protobuf parses these first. Copies nothing. Pure.
ContentsSize MeasureContents(absl::string_view fields);

// Numbers are cut to the datatype's width, without a range check. Each string has its length before
// it. NOT_FOUND without an element. INVALID_ARGUMENT if another datatype's field is filled; the
// text is that datatype. FP16 and BF16 have no field. Pure.
absl::StatusOr<std::string> TypedContents(
    const inference::ModelInferRequest::InferInputTensor& input);

}  // namespace mpsd
