// Agree: whether two runs of a model gave the same answers, as far as its arithmetic promises any.
#pragma once

#include "proto/link/precision.h"
#include "worker/execute/trial_run.h"

namespace mpsd {

// Compares the answers to the same inputs. Numbers may differ as much as those of two runs do that
// add in another order, which depends on what the model computes in and what its outputs show;
// whole numbers, strings, and which rows failed must be equal. Pure.
bool Agree(const KeptOutputs& a, const KeptOutputs& b, Precision precision);

}  // namespace mpsd
