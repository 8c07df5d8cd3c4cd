// torch_precision: the precisions in libtorch's terms: the type of a converted model, and the
// process's switches for rounding a CUDA product's numbers to TF32.
#pragma once

#include <optional>

#include "c10/core/ScalarType.h"
#include "proto/link/precision.h"

namespace mpsd {

// nullopt if nothing is converted, or only the weights of products.
std::optional<c10::ScalarType> ConvertedType(Precision precision);

// Off for kFp32, on for kTf32. Any other precision restores libtorch's setting, if one of the two
// was set before. Called on the main thread for each model that is loaded, and again for the one
// taken. REQUIRES: no lane runs.
void RoundProductsFor(Precision precision);

// Whether the cpu has units that multiply bf16: AMX, AVX512-BF16 or ARM's. Without them bf16 is
// slower than float. Called on the main thread.
bool CpuMultipliesBf16();

}  // namespace mpsd
