// elements: single elements of tensors as numbers. Pure functions, all thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/npy.h"
#include "client/tensor.h"

namespace mpsd::cli {

double HalfToDouble(uint16_t bits);
double BFloatToDouble(uint16_t bits);

// The elements of an output; none for BYTES. Integers beyond 2^53 are rounded.
std::vector<double> Numbers(const client::InferOutput& output);

// A random array of `shape`: floats in [0,1), integers from 0 to 99, BOOL 0 or 1. INVALID_ARGUMENT
// for BYTES, and for shapes with too many elements.
absl::StatusOr<NpyArray> RandomArray(DataType datatype, const Dims& shape, std::mt19937_64* random);

}  // namespace mpsd::cli
