// ContentsSize: what the typed contents of a request take, told before they are parsed.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// A byte of a varint becomes an element of eight; an empty string, of two bytes, one of some fifty.
struct ContentsSize {
  uint64_t wire_bytes = 0;    // of the elements, their tags and lengths
  uint64_t parsed_bytes = 0;  // in the memory that protobuf has them in
};

// `fields` are those of a ModelInferRequest. Where they are malformed, of what stands before that,
// which is all that is parsed. Thread-safe.
ContentsSize MeasureContents(absl::string_view fields);

}  // namespace mpsd
