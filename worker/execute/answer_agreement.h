// CompareAnswers: how far one run's answers are from fp32's.
#pragma once

#include <vector>

#include "proto/link/model_spec.h"
#include "worker/execute/precision_policy.h"
#include "worker/execute/trial_run.h"

namespace mpsd {

// Compares each output with the fp32 output. REQUIRES: equal inputs of `rows` rows. Pure.
//
//   cosine           per row where the model batches, else over all numbers. An output with one
//                    number a row is compared over all rows together.
//   relative error   |given - fp32| / the largest |fp32| of the output
//
// Leaves out numbers that are not finite in both runs, and rows that failed in both.
std::vector<Agreement> CompareAnswers(const ModelSpec& spec, uint32_t rows, const KeptOutputs& fp32,
                                      const KeptOutputs& given);

}  // namespace mpsd
