// ReadParameters: reads JSON "parameters" as the protocol's parameters.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/rest/json_walk.h"
#include "server/wire/tensor_forms.h"

namespace mpsd {

// Sets one parameter: a boolean, a string, a whole number (int64, or uint64 above) or another
// number (double). INVALID_ARGUMENT for anything else, null too. Thread-safe.
absl::Status ReadParameter(ondemand::value value, absl::string_view name,
                           inference::InferParameter* parameter);

}  // namespace mpsd
