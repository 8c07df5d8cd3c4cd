#include "server/supervise/servable_spec.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "proto/base/shape.h"
#include "proto/link/messages.h"

namespace mpsd {
namespace {

constexpr uint64_t kMaxRowBytes = 1ULL << 40;
constexpr int64_t kMaxBucket = 1LL << 30;

const TensorSpec* Find(const std::vector<TensorSpec>& tensors, const std::string& name) {
  const auto is_it = [&name](const TensorSpec& tensor) { return tensor.name == name; };
  const auto found = std::find_if(tensors.begin(), tensors.end(), is_it);
  return found == tensors.end() ? nullptr : &*found;
}

bool HasOpenDim(const std::vector<TensorSpec>& tensors, const std::string& name, uint32_t dim) {
  const TensorSpec* tensor = Find(tensors, name);
  return tensor != nullptr && dim < tensor->dims.size() && tensor->dims[dim] == -1;
}

absl::Status CheckPad(const ModelSpec& spec, const PadRule& rule) {
  if (!spec.batches()) return absl::InvalidArgumentError("only a model that batches can be padded");
  if (!HasOpenDim(spec.inputs, rule.input, rule.dim)) {
    return absl::InvalidArgumentError(absl::StrCat("padding of '", rule.input, "' names no dim"));
  }
  if (Find(spec.inputs, rule.input)->datatype == DataType::kBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", rule.input, "' is BYTES, not to be padded"));
  }
  for (const PadCut& cut : rule.outputs) {
    const TensorSpec* output = Find(spec.outputs, cut.output);
    if (output != nullptr && output->datatype == DataType::kBytes) {
      return absl::InvalidArgumentError(absl::StrCat("'", cut.output, "' is BYTES, not to be cut"));
    }
    if (HasOpenDim(spec.outputs, cut.output, cut.dim)) continue;
    return absl::InvalidArgumentError(absl::StrCat("the cut of '", cut.output, "' names no dim"));
  }
  if (rule.buckets.empty() || rule.buckets.back() > kMaxBucket) {
    return absl::InvalidArgumentError(absl::StrCat("the buckets of '", rule.input, "' are none"));
  }
  return absl::OkStatus();
}

// One row of all tensors; unknown dims count as 1.
absl::Status CheckSize(const std::vector<TensorSpec>& tensors) {
  uint64_t left_bytes = kMaxRowBytes;
  for (const TensorSpec& tensor : tensors) {
    Dims dims = tensor.dims;
    std::replace(dims.begin(), dims.end(), int64_t{-1}, int64_t{1});
    // Clients decide the length; only each element's length field is known.
    const DataType counted =
        tensor.datatype == DataType::kBytes ? DataType::kUint32 : tensor.datatype;
    const std::optional<uint64_t> bytes = TensorBytes(counted, dims);
    if (!bytes.has_value() || *bytes > left_bytes) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", tensor.name, "' is larger, or of another kind, than can be served"));
    }
    left_bytes -= *bytes;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckServable(const ModelSpec& spec) {
  if (spec.inputs.empty() || spec.outputs.empty()) {
    return absl::InvalidArgumentError("a model without inputs or outputs");
  }
  absl::Status status = CheckSize(spec.inputs);
  if (status.ok()) status = CheckSize(spec.outputs);
  for (const PadRule& rule : spec.pad) {
    if (status.ok()) status = CheckPad(spec, rule);
  }
  return status;
}

absl::Status CheckLabels(absl::Span<const std::string> labels) {
  size_t bytes = 0;
  for (const std::string& label : labels) bytes += label.size();
  if (labels.size() <= kMaxLabels && bytes <= kMaxLabelsBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("the model has more labels than can be served");
}

absl::Status CheckPrecision(Precision ordered, Precision reported) {
  const bool is_open = ordered == Precision::kAsSaved || ordered == Precision::kAuto;
  if (reported != Precision::kAuto && (is_open || reported == ordered)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("it computes in ", NameOf(reported), ", not in ", NameOf(ordered)));
}

}  // namespace mpsd
