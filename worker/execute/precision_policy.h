// precision_policy: which precisions "auto" tries (precision_choice.h), and which one it takes.
// Pure.
//
// Candidates are tried from the coarsest to the finest. The first that agrees with fp32 and is
// faster is taken, otherwise fp32.
//
//   device                         tried, in this order
//   cuda                           bf16, fp16 (see below), tf32
//   mps                            bf16, fp16 (see below)
//   cpu with units for bf16        bf16
//   other cpus, other devices      none
//
// int8 is taken only if the config asks for it.
//
// fp16 ends at 65504, and random inputs cannot tell whether a model's values stay below that. So
// fp16 needs data from the operator (Triton's model_warmup). A model saved in fp16 is tried in fp16
// first, even without data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "proto/link/precision.h"

namespace mpsd {

// The bounds for a row's cosine to fp32's answer, and for the difference of one number relative to
// the largest of its output. A network of MiniLM's size has a cosine of 0.99998 in bf16 on an H200.
inline constexpr double kLeastCosine = 0.9995;
inline constexpr double kMostRelativeError = 0.02;

struct AgreementBounds {
  double least_cosine = kLeastCosine;
  double most_relative_error = kMostRelativeError;
};

inline constexpr AgreementBounds kInt8Bounds = {/*least_cosine=*/0.99,
                                                /*most_relative_error=*/0.1};

// A candidate's least speed, relative to fp32.
inline constexpr double kLeastGain = 1.2;

struct PrecisionFacts {
  std::string device;             // "cpu", "cuda:0", "mps"
  bool cpu_has_bf16 = false;      // the CPU multiplies bf16: AMX, AVX512-BF16 or ARM's units
  bool samples_are_real = false;  // the operator gave data to try the model with
  bool saved_in_fp16 = false;
};

std::vector<Precision> PrecisionCandidates(const PrecisionFacts& facts);

// One output's distance from fp32's, in its worst row.
struct Agreement {
  std::string output;
  double cosine = 1;
  double relative_error = 0;
  bool is_alike = true;     // size, failed rows and all non-floats are equal
  bool same_finite = true;  // numbers finite in fp32 are finite here
  uint64_t compared = 0;    // 0: the runs tell nothing
};

// Why a precision with this agreement is not taken, for operators. Empty if the agreement is within
// the bounds.
std::string AgreementFault(const Agreement& agreement, const AgreementBounds& bounds = {});

// Why a precision that takes `took_ns`, where fp32 takes `fp32_ns`, is not worth it. Empty if it
// is.
std::string GainFault(int64_t fp32_ns, int64_t took_ns);

}  // namespace mpsd
