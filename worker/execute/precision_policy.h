// precision_policy: which precisions "auto" tries, and what it takes. Pure.
//
// A model's `precision` of "auto" is decided while it is loaded (precision_choice.h): fp32 answers
// first, then each precision that the device is fast in, from the coarsest to the finest, and the
// first one that agrees with fp32 and is faster is taken. Where none is, it stays fp32.
//
//   device                         tried, in this order
//   cuda                           bf16, fp16 if its range is known to suffice, tf32
//   mps                            bf16, fp16 if its range is known to suffice
//   cpu with units for bf16        bf16
//   other cpus, other devices      none
//
// int8 is never tried: its answers are farther off than those of all others, so it is taken only
// where the config says so, and if it keeps bounds of its own.
//
// fp16 ends at 65504: whether a model's values stay below that, random inputs cannot tell. So
// "auto" takes fp16 only where the operator has given data to try it with (Triton's model_warmup),
// and first of all where the model was saved in it. bf16 has the range of fp32.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/link/precision.h"

namespace mpsd {

// The least cosine of a row's answer to that of fp32, and the largest difference of one number,
// relative to the largest number of its output. A network of MiniLM's size has a cosine of 0.99998
// in bf16 on an H200.
inline constexpr double kLeastCosine = 0.9995;
inline constexpr double kMostRelativeError = 0.02;

// How near an answer must be. A value.
struct AgreementBounds {
  double least_cosine = kLeastCosine;
  double most_relative_error = kMostRelativeError;
};

// The bounds of int8, which nobody gets who did not ask for it.
inline constexpr AgreementBounds kInt8Bounds = {/*least_cosine=*/0.99,
                                                /*most_relative_error=*/0.1};

// Another answer must be worth it: how many times as fast it is at least.
inline constexpr double kLeastGain = 1.2;

// What the candidates depend on. A value.
struct PrecisionFacts {
  std::string device;             // "cpu", "cuda:0", "mps"
  bool cpu_has_bf16 = false;      // its units multiply bf16: AMX, AVX512-BF16 or ARM's
  bool samples_are_real = false;  // an operator gave data to try the model with
  bool saved_in_fp16 = false;     // the file's weights are of FP16
};

// What to try, by the table above. Pure.
std::vector<Precision> PrecisionCandidates(const PrecisionFacts& facts);

// How far one output is from that of fp32, in its worst row. A value.
struct Agreement {
  std::string output;
  double cosine = 1;
  double relative_error = 0;
  bool is_alike = true;     // size, failed rows, and all that is no float are equal
  bool same_finite = true;  // what is a finite number in fp32 is one here
  uint64_t compared = 0;    // numbers; 0: the runs tell nothing
};

// Why a precision with that output is not taken, for operators: "its cosine to fp32 is 0.98 in
// output 'y', below 0.9995"; empty where they are. Pure.
std::string AgreementFault(const Agreement& agreement, const AgreementBounds& bounds = {});

// Why a precision is not worth it that takes `took_ns` where fp32 takes `fp32_ns`: empty where it
// is. Pure.
std::string GainFault(int64_t fp32_ns, int64_t took_ns);

}  // namespace mpsd
