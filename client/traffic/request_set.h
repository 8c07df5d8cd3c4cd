// RequestSet: the requests of a run, encoded once, so that sending costs the client almost nothing.
//
//   "ids:INT64[1,-1]=0..20000"  ──ParseInputPlan──▶  InputPlan
//   RequestPlan: inputs, lengths 8, 16, 100         ──PrepareRequests──▶  three PreparedRequests
//
// The same few contents come again, so a server that remembers answers would look too good. Texts
// are English words in random order.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/datatype.h"
#include "proto/base/shape.h"

namespace mpsd::traffic {

// "NAME:DTYPE[dims]", then maybe "=value" or "=low..high" for the elements. A dim of -1 is the
// request's length. An element of BYTES is a text of `low` to `high` words.
struct InputPlan {
  std::string name;
  DataType datatype = DataType::kInvalid;
  Dims dims;
  double low = 0;
  double high = 1;
  std::string contents{};  // sent unchanged; empty: drawn
};

// A text whose input has no range has so many words.
inline constexpr double kFewestWords = 4;
inline constexpr double kMostWords = 64;

// Parses "3" or "0..1000"; a text has 1 to 10,000 words. Pure.
absl::Status ParseRange(const std::string& text, InputPlan* input);

// Without a range elements are from 0 to 1, so whole numbers are 0 or 1; texts have kFewestWords to
// kMostWords. Pure.
absl::StatusOr<InputPlan> ParseInputPlan(const std::string& text);

// A request, encoded. Constant during a run; all pumps share it.
struct PreparedRequest {
  grpc::ByteBuffer bytes;  // shared, not copied
  std::string payload;     // raw contents of all inputs in order
  double share = 1;        // how often it is sent, relative to the others
};

// `variants` for each of `lengths`, or just as many when no dim is -1. Elements are drawn from
// `seed`.
struct RequestPlan {
  std::string model;
  std::vector<InputPlan> inputs;
  std::vector<int64_t> lengths;
  uint32_t variants = 1;
  uint64_t seed = 1;
  double share = 1;  // share of each request
};

// The same on every platform. INVALID_ARGUMENT if a dim of -1 has no lengths, or a shape is
// impossible. Blocks.
absl::StatusOr<std::vector<PreparedRequest>> PrepareRequests(const RequestPlan& plan);

}  // namespace mpsd::traffic
