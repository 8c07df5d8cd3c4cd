// Validator: checks a message against its model's spec, and refuses in words that clients match on.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "server/request/infer_message.h"
#include "server/request/request.h"
#include "server/request/served_model.h"

namespace mpsd {

// Step 3 of a request: the border between what a client said and what the rest of the daemon
// believes. Before it stand the transport's readers, which know bytes and no model; behind it the
// sizes, counts and indices of a request are believed, and a false one is a CHECK.
//
// What holds after OK:
//   1. request->inputs has one entry for each input of the spec, in its order, of its datatype. The
//      entry of an optional input that is left out says so, and has no dims and no payload.
//   2. Each has at most kMaxRank dims besides the batch dim, all of them known, and they fit the
//      spec's: the model's, if clients see another shape; payload points into `message`.
//   3. All inputs have the same number of rows, from 1 to max_batch_size, where the model batches.
//   4. A payload has exactly the bytes that datatype and dims need; a payload of BYTES has exactly
//      as many well-formed elements.
//   5. request->wanted_outputs are indices into the spec's outputs, none of them twice; all of them
//      where the client named none.
//   6. There are at most kMaxTensors inputs and as many outputs.
//
// Checks the message and fills in the request: its row count, its inputs with their payloads, and
// its wanted outputs. Applies no padding. The status is the client's answer, INVALID_ARGUMENT; the
// text begins with the request's id where the protocol has it, and is one that clients of the
// protocol match on. After an error the request is filled in part. REQUIRES: the model is loaded.
// Pure.
absl::Status Validate(const InferMessage& message, const ServedModel& model, Request* request);

// A tensor of BYTES has elements of any length, so that its shape does not tell its size. Raw bytes
// of it are the elements in row-major order, each a length and then that many bytes:
//
//   | 5 0 0 0 | h e l l o | 0 0 0 0 | 2 0 0 0 | h i |      three elements: "hello", "", "hi"
//     little endian, four bytes
//
// Called by Validate(), on the thread that read the message, before the payload is copied: whatever
// a client writes into a length, nothing behind this function reads beyond the payload.
//
// Walks the payload's elements where they lie; a length or an element may span pieces. Copies no
// element. INVALID_ARGUMENT, in words that clients
// match on, unless the payload holds exactly as many elements as `dims` says: too few, too many, a
// length that is cut off, or an element that is. `dims` are those of the whole tensor, with the
// batch dim; a product that overflows is refused as well. `input` and `model` are names, for the
// text. Pure.
absl::Status CheckStrings(const Payload& payload, absl::string_view input, absl::string_view model,
                          absl::Span<const int64_t> dims);

// `status` with the request's id before its text. Clients of the protocol expect the id in refusals
// of the request itself and of a full queue, and in no others. Returns `status` as it is when it is
// OK or there is no id. Keeps the payloads of `status`, and with them the time to try again. Pure.
absl::Status WithId(const absl::Status& status, absl::string_view id);

}  // namespace mpsd
