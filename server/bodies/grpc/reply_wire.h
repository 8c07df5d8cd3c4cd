// AppendReply: writes a ModelInferResponse by hand.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/grpc/reply_head.h"
#include "server/request/reply.h"
#include "server/request/splices.h"

namespace mpsd {

// Step 13 of a request: an answer becomes the bytes of a message. Called by the calls of door/ on
// the thread that gives the answer. Nothing here blocks or waits for a lock. The message is written
// by hand, because protobuf would copy every tensor twice.
//
//   | head, and for each output name, datatype, shape | raw contents | raw contents | …
//
// Each function appends to `out` and copies the outputs. The caller bounds the copies
// (UnreadCopies). Pure.

// A ModelInferResponse. Outputs over kCopiedReplyBytes are not copied if there are `splices`: these
// get views of them, in `out`.
void AppendReply(const ReplyHead& head, const Answer& answer, std::string* out,
                 Splices* splices = nullptr);

// The same as a ModelStreamInferResponse, whose second field is the answer.
void AppendStreamReply(const ReplyHead& head, const Answer& answer, std::string* out);

// A ModelStreamInferResponse with an error, which ends one request and leaves its stream open. By
// the protocol, the error has no code.
void AppendStreamError(absl::string_view text, absl::string_view id, std::string* out);

}  // namespace mpsd
