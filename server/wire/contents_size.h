// ContentsSize: how much memory a request's typed contents take, measured before they are parsed.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace mpsd {

// The two sizes differ: a varint of one byte becomes an element of up to eight bytes, and an empty
// string, two bytes on the wire, takes some fifty in memory.
struct ContentsSize {
  uint64_t wire_bytes = 0;    // of the elements with their keys and lengths
  uint64_t parsed_bytes = 0;  // in memory, once protobuf has parsed them
};

// Measures the typed contents of all inputs. `fields` holds the serialized fields of a
// ModelInferRequest. Where they are malformed, counts the contents before the mistake. Bounds the
// memory that a hostile request can make protobuf take. Pure.
ContentsSize MeasureContents(absl::string_view fields);

}  // namespace mpsd
