#include "worker/model/trial_dims.h"

#include <algorithm>

namespace mpsd {
namespace {

// Null if no rule pads the dim.
const PadRule* RuleOf(const ModelSpec& spec, const TensorSpec& input, size_t dim) {
  for (const PadRule& rule : spec.pad) {
    if (rule.input == input.name && rule.dim == dim && !rule.buckets.empty()) return &rule;
  }
  return nullptr;
}

}  // namespace

Dims TrialDims(const ModelSpec& spec, const TensorSpec& input, uint32_t rows, size_t step,
               int64_t open_length) {
  Dims dims;
  if (spec.batches()) dims.push_back(rows);
  for (uint32_t dim = 0; dim < input.dims.size(); ++dim) {
    const PadRule* const rule = RuleOf(spec, input, dim);
    if (input.dims[dim] >= 0) {
      dims.push_back(input.dims[dim]);
    } else if (rule != nullptr) {
      dims.push_back(rule->buckets[std::min(step, rule->buckets.size() - 1)]);
    } else {
      dims.push_back(open_length);
    }
  }
  return dims;
}

bool IsPadded(const ModelSpec& spec, const TensorSpec& input, size_t dim) {
  return RuleOf(spec, input, dim) != nullptr;
}

size_t BucketSteps(const ModelSpec& spec) {
  size_t steps = 1;
  for (const PadRule& rule : spec.pad) steps = std::max(steps, rule.buckets.size());
  return steps;
}

}  // namespace mpsd
