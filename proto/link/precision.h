// Precision: the arithmetic that a model computes in.
//
// The config's `precision` of a model. Inputs and outputs keep the datatypes that clients know: the
// worker converts weights and values at the model's edges (worker/load/load_model.h). The order
// carries the operator's choice. The report carries the precision in use, which is never kAuto.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class Precision {
  kAsSaved,  // nothing is converted: as the file has it and its format computes it
  kAuto,     // the fastest one that agrees with kFp32 at load
  kFp32,     // float, even if the device would round products
  kTf32,     // float, but products use 10 bits of a number's fraction; cuda only
  kBf16,     // bfloat16: 7 bits of fraction, the range of float
  kFp16,     // half: 10 bits of fraction, up to 65504
  kInt8,     // float, with the weights of products in 8 bits; only encoders of text on a cpu
};

template <>
inline constexpr std::array<std::string_view, 7> kNamesOf<Precision> = {
    "as_saved", "auto", "fp32", "tf32", "bf16", "fp16", "int8"};

}  // namespace mpsd
