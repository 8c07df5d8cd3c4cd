// typed_input: a tensor that a person types, or keeps in a JSON file. Pure functions, all
// thread-safe.
//
//   --input x=1,2,3          WordsArray   "1,2,3"
//   --input x=@x.json        JsonArray    "[[1, 2], [3, 4]]"
//
// The model says the datatype, and so the kind of element: a number, true or false, or a text.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "client/format/npy.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// The tensor of comma-separated numbers, or for BYTES of one text, which may have commas. `shape`
// is that of a --shape; null: the model's. In the model's shape the last open dim takes as many
// elements as there are, and other open dims are 1. INVALID_ARGUMENT, without the input's name, if
// an element is not of the datatype, or the elements do not fit the shape.
absl::StatusOr<NpyArray> WordsArray(absl::string_view words, const client::TensorMetadata& input,
                                    const Dims* shape);

// The tensor of a JSON text: nested lists, which say its shape, or a flat list or one element,
// shaped as above. INVALID_ARGUMENT also if the text is no JSON or neighbouring lists have
// different lengths.
absl::StatusOr<NpyArray> JsonArray(absl::string_view text, const client::TensorMetadata& input,
                                   const Dims* shape);

}  // namespace mpsd::cli
