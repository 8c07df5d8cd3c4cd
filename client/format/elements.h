// elements: single elements of tensors as numbers, for bytes as in the protocol. All pure and
// thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/format/npy.h"
#include "client/tensor.h"

namespace mpsd::cli {

// Exact; infinities and NaN stay.
double HalfToDouble(uint16_t bits);
double BFloatToDouble(uint16_t bits);

// The nearest, or the even one of two; infinite where it is too large.
uint16_t DoubleToHalf(double value);
uint16_t FloatToBFloat(float value);

// The numbers are in order; none for BYTES. Rounds integers beyond 2^53, unlike client::Values().
// Ignores bytes after the last whole element.
std::vector<double> Numbers(const client::InferOutput& output);

// The array of `infer --input NAME=random`: floats in [0,1), integers from 0 to 99, as most tables
// have, BOOL 0 or 1. The same `random` gives the same array on every platform. INVALID_ARGUMENT for
// BYTES, a negative dim, and more than kMaxNpyBytes.
absl::StatusOr<NpyArray> RandomArray(DataType datatype, const Dims& shape, std::mt19937_64* random);

}  // namespace mpsd::cli
