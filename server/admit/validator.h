// Validator: checks a message against its model's spec, with refusals that clients match on.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Step 3 of a request: the border between a client's words and the daemon's beliefs. Behind it a
// false size, count or index is a CHECK. After OK:
//
//   1. request->inputs has one entry for each input of the spec, in its order, of its datatype. The
//      entry of an optional input that is left out says so, and has no dims and no payload. One
//      that the front end supplies has dims and no payload yet, and no message may have it.
//   2. Each has at most kMaxRank dims besides the batch dim, all of them known, and they fit the
//      spec's: the model's, if clients see another shape; payload points into `message`.
//   3. All inputs have the same number of rows, from 1 to MostRows(), where the model batches.
//   4. A payload has exactly the bytes that datatype and dims need; a payload of BYTES has exactly
//      as many well-formed elements.
//   5. request->wanted_outputs are indices into the spec's outputs, none of them twice; all that
//      clients may have where the client named none.
//   6. There are at most kMaxTensors inputs and as many outputs.
//
// The status is the client's answer, INVALID_ARGUMENT, with a text that clients of the protocol
// match on. After an error the request is filled in part. REQUIRES: the model is loaded. Pure.
absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request);

}  // namespace mpsd
