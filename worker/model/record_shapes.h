// record_shapes: the shapes of which a lane records runs while it warms up.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/link/model_spec.h"
#include "worker/model/trial_dims.h"

namespace mpsd {

// 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, … and `rows_max`: a batch fills two thirds of a large record
// at least. Pure.
std::vector<uint32_t> RecordedRows(uint32_t rows_max);

// Each of these numbers of rows up to max_batch_size, at each bucket of the padded dims. The
// largest comes first, since a later record finds room in what an earlier one has freed. Nothing
// where an open dim is not padded, which has no set of lengths. Pure.
std::vector<TrialShape> RecordShapes(const ModelSpec& spec);

}  // namespace mpsd
