// Agree: whether two runs of a model gave the same answers, up to rounding.
#pragma once

#include "proto/link/precision.h"
#include "worker/execute/trial_run.h"

namespace mpsd {

// Numbers may differ as sums in another order do, by the precision and the outputs' datatype. Whole
// numbers, strings and failed rows must be equal. Pure. REQUIRES: the runs had equal inputs.
bool Agree(const KeptOutputs& a, const KeptOutputs& b, Precision precision);

}  // namespace mpsd
