// InferenceMethodName: the full name of a method of the Open Inference Protocol's service.
#pragma once

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace mpsd {

// "/inference.GRPCInferenceService/ModelReady" of "ModelReady".
inline std::string InferenceMethodName(absl::string_view method) {
  return absl::StrCat("/inference.GRPCInferenceService/", method);
}

}  // namespace mpsd
