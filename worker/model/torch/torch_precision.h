// torch_precision: the precisions as libtorch has them.
//
// The number types of a converted model, and two switches of the process: whether a CUDA device
// rounds the numbers of a product to TF32. libtorch has one pair of switches for all models of a
// process; a worker has one model, or two while "auto" tries them out, one at a time.
#pragma once

#include <optional>

#include "c10/core/ScalarType.h"
#include "proto/link/precision.h"

namespace mpsd {

// What the weights and values of the model become; nullopt where nothing is converted,
// or the weights of products alone.
std::optional<c10::ScalarType> ConvertedType(Precision precision);

// Sets the switches: off for kFp32, on for kTf32, and as libtorch starts (off for products of
// matrices, on for convolutions) for all others; untouched until one of the two is told. Called on
// the main thread when a model is loaded in that precision, and once more with the one that was
// taken. REQUIRES: no lane runs.
void RoundProductsFor(Precision precision);

// Whether the cpu has units that multiply bf16: AMX, AVX512-BF16 or ARM's. libtorch computes in
// bf16 without them too, and slower than in float. Called on the main thread.
bool CpuMultipliesBf16();

}  // namespace mpsd
