// ReadTensorData: a tensor in JSON as bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "server/bodies/json/json_walk.h"

namespace mpsd {

// The raw bytes of a body's JSON tensors in a row. Nothing is reserved for elements still to come,
// whatever a shape promises. The bytes may move, so views are made after the last tensor.
struct CopiedTensors {
  std::string bytes;
  uint64_t limit_bytes = 0;    // limits.message
  uint64_t last_elements = 0;  // in the last tensor
};

// The tensor whose "data" is read. The name is for refusals, and outlives the call. Without
// `elements` the caller finds a shape for `last_elements` (ToldShape).
struct DataTarget {
  absl::string_view name;
  DataType datatype = DataType::kInvalid;
  std::optional<uint64_t> elements;  // nothing: unknown
  bool is_short_form = false;        // one element, or a flat list
};

// Appends the elements of a "data" array, flat or nested in any way. Numbers must fit their
// datatype: 300 is no UINT8, 1.5 no INT32 and 1e39 no FP32. FP32 is rounded twice, through FP64.
//
//   datatype   "data"          appended
//   INT16      [[1,2],[3]]     01 00 02 00 03 00     brackets are not compared with the shape
//   BYTES      ["ab"]          02 00 00 00 'a' 'b'   a length before each element
//
//   FP32       [1, 2.5]        a whole number is a real one too; an integer may not be 1.0
//
// Goes over the text once: `data` is used up. INVALID_ARGUMENT for an element of another type,
// null, arrays deeper than kMaxDataDepth, another count than the shape's, and for FP16 and BF16,
// which have no form in JSON. RESOURCE_EXHAUSTED beyond the limit. After an error `out` has some of
// the elements. For an unknown datatype the JSON is checked and nothing appended: the validator's
// refusal is clearer. Thread-safe.
absl::Status ReadTensorData(ondemand::value data, const DataTarget& target, CopiedTensors* out);

// Above the rank of any tensor with its batch dim. The reader recurses into each level.
inline constexpr int kMaxDataDepth = 16;

}  // namespace mpsd
