// ToldInputs: a model's inputs, as clients are told.
#pragma once

#include <vector>

#include "proto/link/model_spec.h"
#include "server/request/served_model.h"

namespace mpsd {

// A model that takes texts has two more in front. One way in is enough, so only "text" is required:
//
//   text            BYTES  [-1,1]
//   text_pair       BYTES  [-1,1]   optional: the second texts of pairs
//   input_ids …     INT64  [-1,-1]  optional: tokens, in place of texts
//
// REQUIRES: the model is loaded. Pure.
std::vector<TensorSpec> ToldInputs(const ServedModel& model);

}  // namespace mpsd
