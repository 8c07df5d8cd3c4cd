// typed_input: a tensor that a person types, or keeps in a JSON file. All pure and thread-safe.
//
//   --input x=1,2,3          WordsArray   "1,2,3"
//   --input x=@x.json        JsonArray    "[[1, 2], [3, 4]]"
//   --input x=@x.png         BytesArray   the bytes of the file
//
// The model's datatype says what an element may be.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/client.h"
#include "client/format/npy.h"
#include "proto/base/shape.h"

namespace mpsd::cli {

// Numbers with commas between them; for BYTES one text. A null `shape` means the model's, whose
// last open dim takes as many elements as there are; other open dims are 1. INVALID_ARGUMENT,
// without the input's name, if an element does not fit the datatype or the elements do not fill the
// shape.
absl::StatusOr<NpyArray> WordsArray(absl::string_view words, const client::TensorMetadata& input,
                                    const Dims* shape);

// Nested lists say the shape. A flat list or a single element gets its shape as above.
// INVALID_ARGUMENT also for no JSON, and for neighbouring lists of different lengths.
absl::StatusOr<NpyArray> JsonArray(absl::string_view text, const client::TensorMetadata& input,
                                   const Dims* shape);

// The file becomes one element of BYTES as it is, such as an image. `shape` as above.
// INVALID_ARGUMENT, without the input's name, if the input takes no BYTES or more than one element.
absl::StatusOr<NpyArray> BytesArray(absl::string_view content, const client::TensorMetadata& input,
                                    const Dims* shape);

}  // namespace mpsd::cli
