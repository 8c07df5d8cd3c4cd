// torch_precision: the precisions in libtorch's terms.
//
// These are the number types of a converted model, and two switches of the process: whether a CUDA
// device rounds the numbers of a product to TF32. All models of a process share this pair of
// switches. A worker has one model, or two while "auto" tries precisions, one at a time.
#pragma once

#include <optional>

#include "c10/core/ScalarType.h"
#include "proto/link/precision.h"

namespace mpsd {

// The type of the model's converted weights and values; nullopt if nothing is converted, or only
// the weights of products.
std::optional<c10::ScalarType> ConvertedType(Precision precision);

// Sets the switches: off for kFp32, on for kTf32. Any other precision restores libtorch's initial
// setting (off for products of matrices, on for convolutions), or leaves it untouched if neither
// kFp32 nor kTf32 was set before. Called on the main thread when a model is loaded in that
// precision, and again with the precision that was taken. REQUIRES: no lane runs.
void RoundProductsFor(Precision precision);

// Whether the cpu has units that multiply bf16: AMX, AVX512-BF16 or ARM's. Without them libtorch
// computes in bf16 too, but slower than in float. Called on the main thread.
bool CpuMultipliesBf16();

}  // namespace mpsd
