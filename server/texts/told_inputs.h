// ToldInputs: the inputs of a model as clients are told of them.
#pragma once

#include <vector>

#include "proto/link/model_spec.h"
#include "server/request/served_model.h"

namespace mpsd {

// Those of the spec that clients send. A model that takes texts has two more before them, and one
// way in is enough, so that only "text" must be there:
//
//   text            BYTES  [-1,1]
//   text_pair       BYTES  [-1,1]   optional: the second texts of pairs
//   input_ids …     INT64  [-1,-1]  optional: tokens, in place of texts
//
// Called for the answers to ModelMetadata and ModelConfig. REQUIRES: the model is loaded. Pure.
std::vector<TensorSpec> ToldInputs(const ServedModel& model);

}  // namespace mpsd
