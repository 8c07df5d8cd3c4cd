// TrialDims: the shape of an input that no client sent, for a worker's runs before the first
// request.
//
//   run                                 step                   open_length
//   trial runs that learn the outputs   0, then 1              1 + step: a dim that differs is open
//   self-check of the lanes             0, then the last       2
//   warm-up                             0 to the last bucket   1
//   records                             RunRecorder::Shapes()  no open dim
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/base/shape.h"
#include "proto/link/model_spec.h"

namespace mpsd {

// A value.
struct TrialShape {
  uint32_t rows = 1;
  size_t step = 0;

  bool operator==(const TrialShape&) const = default;
};

// First `rows`, if the model batches, then the input's own dims. An open dim (-1) that a padding
// rule pads gets the rule's bucket number `step`, or its last one. Any other open dim gets
// `open_length`. Pure.
Dims TrialDims(const ModelSpec& spec, const TensorSpec& input, uint32_t rows, size_t step,
               int64_t open_length);

// Whether a rule pads dim `dim`, counted without the batch dim. Pure.
bool IsPadded(const ModelSpec& spec, const TensorSpec& input, size_t dim);

// The buckets of the longest padding rule, at least 1. Pure.
size_t BucketSteps(const ModelSpec& spec);

}  // namespace mpsd
