// TextField: reads the name of a request's model before the request is parsed.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace mpsd {

// The gate judges a call by the model that its request names, before any code that knows the
// message parses it. So the name is read off the bytes alone: MethodAccess::model_field says in
// which field a method has it, and GenericCall asks CallGate about the text found there.
//
// The text of field number `field` of a serialized message, at its top level. Agrees with protobuf,
// to the letter: of several the last counts, and an absent one is empty. Access rules depend on
// that, since a message that reads as "a" here and as "b" in protobuf would pass the gate for "a".
// Nothing when `bytes` is malformed; the call is then refused. Returns a view into `bytes`. Costs
// one walk over the top-level fields, and allocates nothing. Pure.
std::optional<absl::string_view> TextField(absl::string_view bytes, uint32_t field);

}  // namespace mpsd
