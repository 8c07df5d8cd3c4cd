#include "worker/model/trial_dims.h"

#include <algorithm>

namespace mpsd {
namespace {

int64_t TrialLength(const ModelSpec& spec, const TensorSpec& input, uint32_t dim, size_t step,
                    int64_t open_length) {
  for (const PadRule& rule : spec.pad) {
    if (rule.input != input.name || rule.dim != dim || rule.buckets.empty()) continue;
    return rule.buckets[std::min(step, rule.buckets.size() - 1)];
  }
  return open_length;
}

}  // namespace

Dims TrialDims(const ModelSpec& spec, const TensorSpec& input, uint32_t rows, size_t step,
               int64_t open_length) {
  Dims dims;
  if (spec.batches()) dims.push_back(rows);
  for (uint32_t dim = 0; dim < input.dims.size(); ++dim) {
    const int64_t length = input.dims[dim];
    dims.push_back(length >= 0 ? length : TrialLength(spec, input, dim, step, open_length));
  }
  return dims;
}

size_t BucketSteps(const ModelSpec& spec) {
  size_t steps = 1;
  for (const PadRule& rule : spec.pad) steps = std::max(steps, rule.buckets.size());
  return steps;
}

}  // namespace mpsd
