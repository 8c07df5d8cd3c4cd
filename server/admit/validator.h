// Validator: checks a message against its model's spec, and refuses in words that clients match on.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Checks the message, of which nothing is believed, and fills in the request: its row count, its
// inputs in the spec's order with their payloads, and its wanted outputs. Applies no padding. The
// status is the client's answer; the text begins with the request's id where the protocol has it.
// After an error the request is filled in part. Pure.
absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request);

// `status` with the request's id before its text. Clients of the protocol expect the id in refusals
// of the request itself and of a full queue, and in no others. Returns `status` as it is when it is
// OK or there is no id. Pure.
absl::Status WithId(const absl::Status& status, absl::string_view id);

}  // namespace mpsd
