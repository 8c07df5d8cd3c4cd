// Validator: holds a message against its model's spec, in the words that clients match on.
#pragma once

#include "absl/status/status.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Which message input carries each input of the spec, in the spec's order.
using InputOrder = absl::InlinedVector<const InputMessage*, 2>;

// Checks the message and fills in the request's rows, inputs (padding not yet applied) and wanted
// outputs, and the order of its inputs. The status is the client's answer, code and text,
// the request's id included where the protocol has it. Pure.
absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request,
                      InputOrder* order);

}  // namespace mpsd
