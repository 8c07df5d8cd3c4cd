// Generate: the short form of inference over HTTP, in which fields are tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_spec.h"
#include "server/bodies/grpc/reply_head.h"
#include "server/bodies/json/infer_body.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"

namespace mpsd {

// POST …/generate answers once, …/generate_stream with any number of server-sent events. This is
// Triton's extension for text:
//
//   {"text":"hello","max_tokens":8,"id":"7"}  →  {"model_name":"m","model_version":"1","id":"7",
//                                                 "out":"hello world"}

// Reads such a body for a model with this spec, whose inputs have the shapes told to clients. "id"
// is the request's. A field named like an input is that input: one element, or a list of them.
// Every other field, and each field in "parameters", is an input in the same way or a parameter of
// the request. All outputs come, as JSON.
//
// A body gives no shapes: they follow from the counts of elements (ToldShape). If the model
// batches, the batch dim comes first:
//
//   dims of the input   "x"        shape
//   [1]                 7          [1,1]
//   [1]                 [7,8]      [2,1]: two rows, because no other dim is open
//   [-1]                [7,8]      [1,2]: one row, because the last open dim takes all
//   [3]                 [7,8]      INVALID_ARGUMENT
//
// At this level "id" is a string and never an input; in "parameters" it is a name like any other.
// The short form has no regions, no binary tensors, and no inputs of FP16 or BF16. Whether all
// inputs are there is decided in admit/.
//
// Fills `message` like InferBody::Read(), with the same object, bounds and refusals.
// INVALID_ARGUMENT also for a count that fits no shape of the input, and for a repeated parameter.
// The spec is needed only during the call: if a reload replaces its generation, admission checks
// the message against the new one. Lives on the call's thread.
absl::Status ReadGenerateBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                              InferMessage* message, InferBody* request);

// The body of an answer: each output is a field. Its value is a list, or the element itself if
// there is only one. Replaces `json`, which has a part of the body after an error. Statuses as
// PutTensorJson(). Thread-safe.
absl::Status WriteGenerateReply(const ReplyHead& head, const Answer& answer, size_t most_bytes,
                                std::string* json);

// Such a body, or an error, as one event of the stream: "data: {…}\n\n". REQUIRES: `json` has no
// line break; nothing written by this folder has one. Thread-safe.
std::string StreamEvent(absl::string_view json);

}  // namespace mpsd
