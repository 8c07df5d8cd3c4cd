// Validator: holds a message against its model's spec, in the words that clients match on.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Checks the message and fills in the request's rows, its inputs in the spec's order (padding not
// yet applied) with where their payloads lie, and its wanted outputs. The status is the client's
// answer, code and text, the request's id included where the protocol has it. Pure.
absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request);

// `status` with the request's id before its text. Clients of the protocol expect the id in refusals
// of the request itself and of a full queue, and in no others. Returns `status` as it is when it is
// OK or there is no id. Pure.
absl::Status WithId(const absl::Status& status, absl::string_view id);

}  // namespace mpsd
