// CompareAnswers: how far the answers of one run are from those of another.
#pragma once

#include <vector>

#include "proto/link/model_spec.h"
#include "worker/execute/precision_policy.h"
#include "worker/execute/trial_run.h"

namespace mpsd {

// Compares each output of a trial run with the one that the same inputs gave in fp32:
//
//   cosine           of the numbers of each row where the model batches, else of all; of outputs
//                    with one number a row, of all rows together
//   relative error   |given - fp32| / the largest |fp32| of the output
//
// Places where fp32 has no finite number are left out if both have none, and rows that failed in
// both. Pure. REQUIRES: the runs had equal inputs of `rows` rows.
std::vector<Agreement> CompareAnswers(const ModelSpec& spec, uint32_t rows, const KeptOutputs& fp32,
                                      const KeptOutputs& given);

}  // namespace mpsd
