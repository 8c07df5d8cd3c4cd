// record_shapes: the shapes for which a lane records runs while it warms up.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/link/model_spec.h"
#include "worker/model/trial_dims.h"

namespace mpsd {

// 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, … and `rows_max`. So a batch fills at least two thirds of a
// large record. Pure.
std::vector<uint32_t> RecordedRows(uint32_t rows_max);

// Each row count of RecordedRows() up to max_batch_size, at each bucket of the padded dims. The
// largest shape comes first, because a later record finds room in what an earlier one has freed.
// Empty if an open dim is not padded, because its lengths are not a fixed set. Pure.
std::vector<TrialShape> RecordShapes(const ModelSpec& spec);

}  // namespace mpsd
