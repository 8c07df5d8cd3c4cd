// ToldShape: finds a tensor's shape from its number of elements.
#pragma once

#include <cstdint>

#include "proto/link/model_spec.h"
#include "server/bodies/json/infer_body.h"

namespace mpsd {

// The input's dims as clients see them: fixed dims keep their length, the last open dim takes the
// rest, other open dims are 1. So an open batch dim counts rows only if no other dim is open. False
// if no such shape has `count` elements. Pure.
bool ToldShape(const TensorSpec& spec, bool batches, uint64_t count, InferBody::Shape* shape);

}  // namespace mpsd
