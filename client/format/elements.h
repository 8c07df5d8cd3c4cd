// elements: single elements of tensors as numbers. Pure functions, all thread-safe.
//
// Only this file gives a datatype's bytes their meaning. Bytes are little endian and without
// padding, as in the protocol.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/format/npy.h"
#include "client/tensor.h"

namespace mpsd::cli {

// The value of an FP16 or BF16, for which C++ has no type. Exact; infinities and NaN stay.
double HalfToDouble(uint16_t bits);
double BFloatToDouble(uint16_t bits);

// The nearest FP16 or BF16, of two equally near ones the even one; infinite where it is too large.
uint16_t DoubleToHalf(double value);
uint16_t FloatToBFloat(float value);

// The elements of an output in their order, for tables, means and cosines. None for BYTES. Rounds
// integers beyond 2^53; a report that must be exact uses client::Values() instead. Leaves out bytes
// after the last whole element.
std::vector<double> Numbers(const client::InferOutput& output);

// A random array of `shape`, for `infer --input NAME=random`: floats in [0,1), integers from 0 to
// 99, BOOL 0 or 1. Most tables have ids up to 99. The same `random` gives the same array on every
// platform.
//
// INVALID_ARGUMENT for BYTES, for a negative dim, and for more than kMaxNpyBytes.
absl::StatusOr<NpyArray> RandomArray(DataType datatype, const Dims& shape, std::mt19937_64* random);

}  // namespace mpsd::cli
