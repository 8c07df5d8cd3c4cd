// Generate: the short form of inference over HTTP, in which fields are tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/link/model_spec.h"
#include "server/request/infer_message.h"
#include "server/request/reply.h"
#include "server/rest/infer_body.h"
#include "server/wire/reply_head.h"

namespace mpsd {

// POST …/generate answers once, …/generate_stream with any number of server-sent events; Triton's
// extension, made for text:
//
//   {"text":"hello","max_tokens":8,"id":"7"}  →  {"model_name":"m","model_version":"1","id":"7",
//                                                 "out":"hello world"}

// Reads such a body, for a model of that spec, whose inputs are those that clients are told of.
// "id" is the request's. A field that an input of the model is named for is that input: one
// element, or a list of them. Any other field, and each field of "parameters", is an input in the
// same way or a parameter of the request. Outputs come all, as JSON.
//
// A body says no shapes: they follow from the counts of elements (ToldShape), where a model batches
// with the batch dim in front:
//
//   dims of the input   "x"        shape
//   [1]                 7          [1,1]
//   [1]                 [7,8]      [2,1]: two rows, since no other dim is open
//   [-1]                [7,8]      [1,2]: one row, since the last open dim takes all
//   [3]                 [7,8]      INVALID_ARGUMENT
//
// "id" is a string and never an input at this level; within "parameters" it is a name like others.
// A short form has neither regions nor binary tensors, and no input of FP16 or BF16. Whether all
// inputs are there is decided in admit/.
//
// Fills `message` as InferBody::Read(), on the same object and under the same bounds, and refuses
// what that refuses; INVALID_ARGUMENT also for a count that no shape of the input has, and a
// parameter that comes twice. The spec is not needed after that: it is that of the generation that
// serves now, and where a reload puts another one in its place, admission checks the message
// against that one. Lives on the call's thread.
absl::Status ReadGenerateBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                              InferMessage* message, InferBody* request);

// The body of an answer: each output is a field, its value a list, or the element itself where it
// is the only one. Replaces `json`, which has a part of the body after an error. Statuses as
// PutTensorJson(). Thread-safe.
absl::Status WriteGenerateReply(const ReplyHead& head, const Answer& answer, size_t most_bytes,
                                std::string* json);

// The same or an error as one event of the stream: "data: {…}\n\n". REQUIRES: `json` has no line
// break, as nothing that this folder writes has. Thread-safe.
std::string StreamEvent(absl::string_view json);

}  // namespace mpsd
