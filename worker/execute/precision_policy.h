// precision_policy: which precisions "auto" tries, and which one it takes. Pure.
//
// "auto" is decided while a model is loaded (precision_choice.h). Each precision in which the
// device is fast is tried, from the coarsest to the finest. The first one that agrees with fp32 and
// is faster is taken. If there is none, the model stays in fp32.
//
//   device                         tried, in this order
//   cuda                           bf16, fp16 (see below), tf32
//   mps                            bf16, fp16 (see below)
//   cpu with units for bf16        bf16
//   other cpus, other devices      none
//
// int8 is never tried, because its answers are the farthest from fp32. It is taken only if the
// config asks for it and its answers keep bounds of their own.
//
// fp16 ends at 65504, and random inputs cannot tell whether a model's values stay below that. So
// "auto" tries fp16 only if the operator has given data to try it with (Triton's model_warmup). A
// model that was saved in fp16 is the exception: it is tried in fp16 first, even without data. bf16
// has the range of fp32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/link/precision.h"

namespace mpsd {

// The least cosine between a row's answer and fp32's, and the largest difference of one number,
// relative to the largest number of its output. A network of MiniLM's size has a cosine of 0.99998
// in bf16 on an H200.
inline constexpr double kLeastCosine = 0.9995;
inline constexpr double kMostRelativeError = 0.02;

// How near to fp32 an answer must be. A value.
struct AgreementBounds {
  double least_cosine = kLeastCosine;
  double most_relative_error = kMostRelativeError;
};

// The wider bounds of int8, which is used only on request.
inline constexpr AgreementBounds kInt8Bounds = {/*least_cosine=*/0.99,
                                                /*most_relative_error=*/0.1};

// A candidate must be at least this many times as fast as fp32.
inline constexpr double kLeastGain = 1.2;

// The facts that decide the candidates. A value.
struct PrecisionFacts {
  std::string device;             // "cpu", "cuda:0", "mps"
  bool cpu_has_bf16 = false;      // the CPU's units multiply bf16: AMX, AVX512-BF16 or ARM's
  bool samples_are_real = false;  // an operator gave data to try the model with
  bool saved_in_fp16 = false;     // the weights in the file are FP16
};

// The precisions to try, by the table above. Pure.
std::vector<Precision> PrecisionCandidates(const PrecisionFacts& facts);

// How far one output is from fp32's, in its worst row. A value.
struct Agreement {
  std::string output;
  double cosine = 1;
  double relative_error = 0;
  bool is_alike = true;     // size, failed rows and all non-floats are equal
  bool same_finite = true;  // numbers that are finite in fp32 are finite here
  uint64_t compared = 0;    // how many numbers were compared; 0: the runs tell nothing
};

// Why a precision with this agreement is not taken, for operators: "its cosine to fp32 is 0.98 in
// output 'y', below 0.9995". Empty if the agreement is within the bounds. Pure.
std::string AgreementFault(const Agreement& agreement, const AgreementBounds& bounds = {});

// Why a precision that takes `took_ns`, where fp32 takes `fp32_ns`, is not worth it. Empty if it
// is. Pure.
std::string GainFault(int64_t fp32_ns, int64_t took_ns);

}  // namespace mpsd
