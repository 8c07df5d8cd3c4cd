// TextField: reads the name of a request's model before the request is parsed.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

// The gate checks the model in a request before any code that knows the message parses it. So the
// name is read from the bytes alone. MethodAccess::model_field names the field for each method, and
// CheckMethodRequest() passes its text to the HttpGate.
//
// The text of field number `field` of a serialized message, at its top level. It agrees exactly
// with protobuf: the last of several counts, and an absent one is empty. Access rules depend on
// that: a message that reads as "a" here and as "b" in protobuf would pass the gate for "a".
// Nothing if `bytes` is malformed; the call is then refused. Returns a view into `bytes`. Costs one
// walk over the top-level fields, and allocates nothing. Pure.
std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field);

}  // namespace mpsd
