// typed_input: a tensor that a person types, or keeps in a file of JSON. Pure functions, all
// thread-safe.
//
//   --input x=1,2,3          WordsArray   "1,2,3"
//   --input x=@x.json        JsonArray    "[[1, 2], [3, 4]]"
//
// The model says the datatype, and so what an element may be: a number, true or false, or a text.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "client/format/npy.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// The tensor of numbers with commas between them; for BYTES of one text, which may have commas.
// `shape` is that of a --shape; null: the model's. The last open dim of the model's shape takes as
// many elements as there are, and its other open dims are 1. INVALID_ARGUMENT, without the input's
// name, where an element is none of the datatype, or where the elements do not make up the shape.
absl::StatusOr<NpyArray> WordsArray(absl::string_view words, const client::TensorMetadata& input,
                                    const Dims* shape);

// The tensor of a JSON text: nested lists, which say its shape, or a flat list or one element, of
// which the shape is made as above. INVALID_ARGUMENT, besides, where the text is no JSON or lists
// beside each other have different lengths.
absl::StatusOr<NpyArray> JsonArray(absl::string_view text, const client::TensorMetadata& input,
                                   const Dims* shape);

}  // namespace mpsd::cli
