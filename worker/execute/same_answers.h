// Agree: whether two runs of a model gave the same answers, up to rounding.
#pragma once

#include "proto/link/precision.h"
#include "worker/execute/trial_run.h"

namespace mpsd {

// Compares the answers to the same inputs. Numbers may differ as much as sums in another order do.
// That depends on the precision of the model and the datatype of its outputs. Whole numbers,
// strings and the set of failed rows must be equal. Pure.
bool Agree(const KeptOutputs& a, const KeptOutputs& b, Precision precision);

}  // namespace mpsd
