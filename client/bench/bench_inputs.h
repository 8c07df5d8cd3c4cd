// bench_inputs: the requests that load a model, from what the server says of its inputs.
//
//   metadata  text:BYTES[-1,1], input_ids:INT64[-1,-1], …   ──▶  one input: text
//   metadata  x:FP32[-1,1024]                rows 8         ──▶  x:FP32[8,1024]
//   metadata  ids:INT64[-1,-1]               lengths 16,64  ──▶  ids:INT64[1,-1], half with 16
//
// Of a model that takes texts the input `text` alone is sent: the server makes the other ones of
// it. Otherwise all inputs are, or those that the user names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/client.h"
#include "client/traffic/request_set.h"
#include "proto/base/shape.h"

namespace mpsd::bench {

// What the user says of an input.
struct InputWish {
  std::string name;
  std::string range{};     // "3" or "0..1000", of texts the number of words; empty: the default
  Dims shape{};            // all dims; empty: the model's
  std::string contents{};  // sent as they are, with `shape`; empty: drawn
  DataType datatype = DataType::kInvalid;  // of `contents`
};

// What the user says of all requests.
struct RequestWishes {
  std::vector<InputWish> inputs;  // empty: as above
  int64_t rows = 0;               // 0: 1 where the model batches
  std::vector<int64_t> lengths;   // of open dims; empty: kDefaultLength
  uint64_t seed = 1;
};

inline constexpr int64_t kDefaultLength = 16;

// The plan of the requests; without contents of the user several of each length, so that a server
// sees different ones. Whole numbers are from 0 to 99, which most tables of ids have, and those
// of an `attention_mask` are 1; other elements are from 0 to 1. INVALID_ARGUMENT names the input:
// the model has none of that name, its dim 0 is not open for `rows`, or its range is wrong; or says
// that a request alone has more than 64 MiB. Pure.
absl::StatusOr<traffic::RequestPlan> MakeRequestPlan(const client::ModelMetadata& metadata,
                                                     const RequestWishes& wishes);

}  // namespace mpsd::bench
