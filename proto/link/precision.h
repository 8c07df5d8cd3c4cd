// Precision: the arithmetic that a model computes in.
//
// Inputs and outputs keep their datatypes: the worker converts at the model's edges
// (worker/load/load_model.h). An order has the operator's choice, a report what is in use.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class Precision {
  kAsSaved,  // nothing is converted
  kAuto,     // the fastest one that agrees with kFp32 at load
  kFp32,     // even if the device would round products
  kTf32,     // products use 10 bits of fraction; cuda only
  kBf16,     // 7 bits of fraction, the range of float
  kFp16,     // 10 bits of fraction, up to 65504
  kInt8,     // float, with weights of products in 8 bits; encoders on a cpu
};

template <>
inline constexpr std::array<std::string_view, 7> kNamesOf<Precision> = {
    "as_saved", "auto", "fp32", "tf32", "bf16", "fp16", "int8"};

}  // namespace mpsd
