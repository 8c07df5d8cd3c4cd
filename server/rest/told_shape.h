// ToldShape: the shape of a tensor whose sender said only how many elements it has.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/rest/infer_body.h"

namespace mpsd {

// Spreads `count` elements over the dims of an input as clients see it, the batch dim first where
// the model batches: fixed dims take what they are, the last open one takes the rest, further open
// ones are 1. So an open batch dim counts rows only where no other dim is open. False where no such
// shape has so many elements. Pure.
bool ToldShape(const TensorSpec& spec, bool batches, uint64_t count, InferBody::Shape* shape);

}  // namespace mpsd
