// ReadTensorData: turns the elements of a tensor in JSON into bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "server/bodies/json/json_walk.h"

namespace mpsd {

// The raw bytes of a request's JSON tensors, one after the other. Bounded by `limit_bytes`,
// whatever a shape promises: elements are counted, and nothing is reserved for elements still to
// come. A value, one per body. Its owner records where each tensor begins. The bytes may move, so
// the owner makes views only after the last tensor.
struct CopiedTensors {
  std::string bytes;
  uint64_t limit_bytes = 0;    // limits.message
  uint64_t last_elements = 0;  // in the last tensor, if ReadTensorData() was OK
};

// The tensor whose "data" is read. The name is for refusals, and outlives the call. Without
// `elements` the caller later finds a shape for `last_elements` (told_shape.h). If "data" comes
// before "shape" and "datatype", the body's reader keeps the text and calls this at the end of the
// tensor.
struct DataTarget {
  absl::string_view name;
  DataType datatype = DataType::kInvalid;
  std::optional<uint64_t> elements;  // count from the shape; nothing: unknown
  bool is_short_form = false;        // one element or a flat list
};

// Appends the elements of a "data" array, row-major: flat, or nested in any way. Numbers must fit
// their datatype: 300 is no UINT8, 1.5 no INT32 and 1e39 no FP32. FP32 is rounded twice, through
// FP64. BOOL takes only true and false. BYTES takes strings, whose UTF-8 becomes the element.
//
//   datatype   "data"          appended
//   INT16      [[1,2],[3]]     01 00 02 00 03 00     brackets are not compared with the shape
//   BYTES      ["ab"]          02 00 00 00 'a' 'b'   a length before each element
//
//   FP32       [1, 2.5]        a whole number is a real one too; an integer may not be 1.0
//
// Called in step 2 of a request, by the readers of a body (InferBody, ReadGenerateBody), on the
// call's thread. Goes over the text once: `data` is used up. Null is no element of any datatype.
//
// INVALID_ARGUMENT for an element of another type, arrays deeper than kMaxDataDepth, a count that
// differs from the shape's, and for FP16 and BF16, which have no form in JSON. RESOURCE_EXHAUSTED
// beyond the limit. After an error `out` has some of the elements. For an unknown datatype the JSON
// is checked and nothing appended, because the validator refuses it with a better text.
// Thread-safe.
absl::Status ReadTensorData(ondemand::value data, const DataTarget& target, CopiedTensors* out);

// Above the rank of any tensor (kMaxRank and the batch dim). Bounds the stack of the reader, which
// recurses into each level.
inline constexpr int kMaxDataDepth = 16;

}  // namespace mpsd
