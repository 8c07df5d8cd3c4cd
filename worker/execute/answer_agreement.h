// CompareAnswers: how far the answers of one run are from those of another.
#pragma once

#include <vector>

#include "proto/link/model_spec.h"
#include "worker/execute/precision_policy.h"
#include "worker/execute/trial_run.h"

namespace mpsd {

// Compares each output of a trial run with the fp32 output for the same inputs:
//
//   cosine           per row where the model batches, else over all numbers. An output with one
//                    number a row is compared over all rows together.
//   relative error   |given - fp32| / the largest |fp32| of the output
//
// Left out are numbers that are not finite in both runs, and rows that failed in both. Pure.
// REQUIRES: the runs had equal inputs of `rows` rows.
std::vector<Agreement> CompareAnswers(const ModelSpec& spec, uint32_t rows, const KeptOutputs& fp32,
                                      const KeptOutputs& given);

}  // namespace mpsd
