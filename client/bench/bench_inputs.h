// bench_inputs: the requests that load a model, from the server's description of its inputs.
//
//   metadata  text:BYTES[-1,1], input_ids:INT64[-1,-1], …   ──▶  one input: text
//   metadata  x:FP32[-1,1024]                rows 8         ──▶  x:FP32[8,1024]
//   metadata  ids:INT64[-1,-1]               lengths 16,64  ──▶  ids:INT64[1,-1], half with 16
//
// If a model takes texts, the server makes the other inputs from `text`.
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

// The user's, for one input.
struct InputWish {
  std::string name;
  std::string range{};     // "3" or "0..1000"; for texts the number of words; empty: the default
  Dims shape{};            // all dims; empty: the model's
  std::string contents{};  // sent as they are, with `shape`; empty: drawn
  DataType datatype = DataType::kInvalid;  // datatype of `contents`
};

// The user's, for all requests.
struct RequestWishes {
  std::vector<InputWish> inputs;  // empty: as above
  int64_t rows = 0;               // 0: 1 if the model batches
  std::vector<int64_t> lengths;   // for open dims; empty: kDefaultLength
  uint64_t seed = 1;
};

inline constexpr int64_t kDefaultLength = 16;

// Several requests of each length, without contents from the user. Whole numbers are from 0 to 99,
// which most tables of ids have; an `attention_mask` has 1; other elements are from 0 to 1.
// INVALID_ARGUMENT names an input that is unknown, whose dim 0 is not open for `rows`, or whose
// range is wrong, or says that a request exceeds 64 MiB. Pure.
absl::StatusOr<traffic::RequestPlan> MakeRequestPlan(const client::ModelMetadata& metadata,
                                                     const RequestWishes& wishes);

}  // namespace mpsd::bench
