// TritonTypes: Triton's datatypes.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/base/datatype.h"
#include "proto/model_config.pb.h"

namespace mpsd {

// kInvalid for TYPE_INVALID. Pure.
inline DataType DataTypeOf(inference::DataType type) {
  if (type == inference::TYPE_STRING) return DataType::kBytes;
  const std::string& name = inference::DataType_Name(type);  // "TYPE_FP32"
  return ParseDataType(absl::string_view(name).substr(5));
}

}  // namespace mpsd
