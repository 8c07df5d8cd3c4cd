// Precision: the arithmetic that a model computes in.
//
// The config's `precision` of a model. Inputs and outputs keep the datatypes that clients know: the
// worker converts weights and values at the model's edges (worker/load/load_model.h). The order
// says the operator's word, and the report says the one that the model was loaded in, which is
// never kAuto.
#pragma once

#include "proto/link/enum_names.h"

namespace mpsd {

enum class Precision {
  kAsSaved,  // as the file has it and its format computes it: nothing is converted
  kAuto,     // the fastest one that agrees with kFp32 at load
  kFp32,     // float, also where the device would round products
  kTf32,     // float, of which products see 10 bits of a number's fraction; of cuda alone
  kBf16,     // bfloat16: 7 bits of fraction, the range of float
  kFp16,     // half: 10 bits of fraction, up to 65504
  kInt8,     // float, with the weights of products in 8 bits; of encoders of text on a cpu alone
};

template <>
inline constexpr std::array<std::string_view, 7> kNamesOf<Precision> = {
    "as_saved", "auto", "fp32", "tf32", "bf16", "fp16", "int8"};

}  // namespace mpsd
