// Validator: holds a message against its model's spec, in the words that clients match on.
#pragma once

#include "absl/status/status.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Checks the message and fills in the request's rows, its inputs in the spec's order (padding not
// yet applied) with where their payloads lie, and its wanted outputs. The status is the client's
// answer, code and text, the request's id included where the protocol has it. Pure.
absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request);

}  // namespace mpsd
