// Generate: the short form of inference over HTTP.
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

// Triton's extension for text. POST …/generate answers once, …/generate_stream by server-sent
// events:
//
//   {"text":"hello","max_tokens":8,"id":"7"}  →  {"model_name":"m","model_version":"1","id":"7",
//                                                 "out":"hello world"}

// "id" is the request's. A field named like an input is that input: one element, or a list of them.
// Other fields, and those in "parameters", are inputs too or parameters. All outputs come, as JSON.
//
// Shapes follow from the counts of elements (ToldShape):
//
//   dims of the input   "x"        shape
//   [1]                 7          [1,1]
//   [1]                 [7,8]      [2,1]: two rows, because no other dim is open
//   [-1]                [7,8]      [1,2]: one row, because the last open dim takes all
//   [3]                 [7,8]      INVALID_ARGUMENT
//
// "id" is never an input, except in "parameters". Inputs of FP16 or BF16 have no short form.
//
// Fills `message` like InferBody::Read(), with the same bounds and refusals. INVALID_ARGUMENT also
// for a repeated parameter. `spec` is needed only during the call: admission checks the message
// again. Lives on the call's thread.
absl::Status ReadGenerateBody(std::string body, const ModelSpec& spec, uint64_t message_bytes,
                              InferMessage* message, InferBody* request);

// Each output is a field: a list, or its only element. Replaces `json`, which after an error has a
// part of the body. Statuses as PutTensorJson(). Thread-safe.
absl::Status WriteGenerateReply(const ReplyHead& head, const Answer& answer, size_t most_bytes,
                                std::string* json);

// "data: {…}\n\n", an event of the stream. REQUIRES: `json` has no line break; nothing written by
// this folder has one. Thread-safe.
std::string StreamEvent(absl::string_view json);

}  // namespace mpsd
