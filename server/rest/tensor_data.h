// ReadTensorData: the elements of a tensor in JSON become its bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "server/rest/json_walk.h"

namespace mpsd {

// What a request's tensors in JSON become: raw bytes, of one tensor behind the other. Bounded by
// `limit_bytes`, whatever a shape promises: elements are counted, and nothing is reserved for those
// that have not come. A value, one for each body: its owner notes where each tensor begins, and
// makes views only when the last one was read, since the bytes may move until then.
struct CopiedTensors {
  std::string bytes;
  uint64_t limit_bytes = 0;    // limits.message
  uint64_t last_elements = 0;  // of the last tensor, where ReadTensorData() was OK
};

// The tensor whose "data" is read. The name is for the texts of refusals, and outlives the call.
// Without `elements` the caller finds a shape for `last_elements` afterwards (told_shape.h). A body
// may have "data" before "shape" and "datatype": then its reader keeps the text, and calls this at
// the end of the tensor.
struct DataTarget {
  absl::string_view name;
  DataType datatype = DataType::kInvalid;
  std::optional<uint64_t> elements;  // what its shape says; nothing: unknown
  bool is_short_form = false;        // one element, or a list of them, and no list of lists
};

// Appends the elements of a "data" array, row-major: flat, or nested in any way. Numbers must fit
// their datatype: 300 is no UINT8, 1.5 no INT32 and 1e39 no FP32. A FP32 is rounded twice, through
// FP64. BOOL takes true and false only. BYTES takes strings, whose UTF-8 becomes the element.
//
//   datatype   "data"          appended
//   INT16      [[1,2],[3]]     01 00 02 00 03 00     brackets are not held to the shape
//   BYTES      ["ab"]          02 00 00 00 'a' 'b'   a length before each element
//   FP32       [1, 2.5]        a whole number is a real one too; for integers 1.0 is none
//
// The short form is that of generate.h.
//
// Called in step 2 of a request, by the readers of a body (InferBody, ReadGenerateBody), on the
// call's thread. Goes over the text once: `data` is used up. Null is no element of any datatype.
//
// INVALID_ARGUMENT for an element of another type, arrays deeper than kMaxDataDepth, a count other
// than the shape's, and for FP16 and BF16, which have no form in JSON. RESOURCE_EXHAUSTED beyond
// the limit. `out` has some of the elements then. Of an unknown datatype the JSON is checked and
// nothing is appended: the validator refuses it by a better text. Thread-safe.
absl::Status ReadTensorData(ondemand::value data, const DataTarget& target, CopiedTensors* out);

// More than the rank that a tensor may have (kMaxRank and the batch dim). Bounds the stack of the
// reader, which calls itself for each level.
inline constexpr int kMaxDataDepth = 16;

}  // namespace mpsd
