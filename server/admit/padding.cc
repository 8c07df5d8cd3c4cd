#include "server/admit/padding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/link/token_places.h"

namespace mpsd {
namespace {

// Limits one row of all inputs. A dim of 0 allows any other dims, and padding replaces the 0. The
// bound keeps products with kMaxBatchRows far from overflow.
constexpr uint64_t kMaxPaddedRowBytes = 1ULL << 40;

absl::Status PadDim(const PadRule& rule, RequestInput* input) {
  const int64_t length = input->dims[rule.dim];
  const auto bucket = std::lower_bound(rule.buckets.begin(), rule.buckets.end(), length);
  if (bucket == rule.buckets.end()) {
    return absl::InvalidArgumentError(absl::StrCat("input '", rule.input, "' is of length ", length,
                                                   ", but at most ", rule.buckets.back(),
                                                   " is served"));
  }
  input->padded_dims[rule.dim] = *bucket;
  return absl::OkStatus();
}

// Padding would make rows of different lengths equal, and the model could not tell.
absl::Status CheckTokenRows(const ModelSpec& spec, const Request& request) {
  const std::optional<TokenPlaces> places = FindTokenPlaces(spec);
  if (!places.has_value()) return absl::OkStatus();
  const RequestInput& ids = request.inputs[places->ids];
  for (const size_t other : {places->mask, places->types.value_or(places->mask)}) {
    const RequestInput& input = request.inputs[other];
    if (ids.is_left_out() || input.is_left_out() || input.dims == ids.dims) continue;
    return absl::InvalidArgumentError(
        "input_ids, attention_mask and token_type_ids differ in length");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyPadding(const ModelSpec& spec, Request* request) {
  MPSD_CHECK(request->inputs.size() == spec.inputs.size());
  for (RequestInput& input : request->inputs) input.padded_dims = input.dims;
  if (!spec.pad.empty()) {
    if (absl::Status status = CheckTokenRows(spec, *request); !status.ok()) return status;
  }
  for (const PadRule& rule : spec.pad) {
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      if (spec.inputs[i].name != rule.input || request->inputs[i].is_left_out()) continue;
      if (absl::Status status = PadDim(rule, &request->inputs[i]); !status.ok()) return status;
    }
  }
  uint64_t left_bytes = kMaxPaddedRowBytes;
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    RequestInput& input = request->inputs[i];
    if (spec.inputs[i].optional) request->key.push_back(input.is_left_out() ? 0 : 1);
    if (input.is_left_out()) continue;
    request->key.insert(request->key.end(), input.padded_dims.begin(), input.padded_dims.end());
    if (input.datatype == DataType::kBytes) continue;  // its length is in the payload
    const std::optional<uint64_t> bytes = TensorBytes(input.datatype, input.padded_dims);
    if (!bytes.has_value() || *bytes > left_bytes) {
      return absl::InvalidArgumentError("the inputs are larger than any that are served");
    }
    left_bytes -= *bytes;
    input.row_bytes = *bytes;
  }
  return absl::OkStatus();
}

}  // namespace mpsd
