// elements: single elements of tensors as numbers. Pure functions, all thread-safe.
//
// The verbs show outputs to people and make random inputs without knowing a model's datatypes
// beforehand; here is the one place in client/cli that goes from a datatype to its bytes' meaning.
// Bytes are little endian and lie without padding, as the protocol has them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/format/npy.h"
#include "client/tensor.h"

namespace mpsd::cli {

// The value of an FP16 or BF16, whose bits C++ has no type for. Exact, since a double holds every
// value of both; infinities and NaN stay what they are.
double HalfToDouble(uint16_t bits);
double BFloatToDouble(uint16_t bits);

// The elements of an output in their order, for tables, means and cosines. None for BYTES, whose
// elements are no numbers. Integers beyond 2^53 are rounded, so a report that must show them
// exactly reads them with client::Values() instead. Bytes behind the last whole element are left
// out.
std::vector<double> Numbers(const client::InferOutput& output);

// A random array of `shape`, for `infer --input NAME=random`: floats in [0,1), integers from 0 to
// 99, BOOL 0 or 1. Small integers are also valid indices of most tables, so that models which take
// ids accept them. The same `random` gives the same array on every platform.
//
// INVALID_ARGUMENT for BYTES, of which no element follows from the datatype, for a negative dim,
// and for more than kMaxNpyBytes.
absl::StatusOr<NpyArray> RandomArray(DataType datatype, const Dims& shape, std::mt19937_64* random);

}  // namespace mpsd::cli
