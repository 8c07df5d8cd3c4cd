// AppendReply: writes a ModelInferResponse by hand.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "server/bodies/grpc/reply_head.h"
#include "server/request/reply.h"
#include "server/request/splices.h"

namespace mpsd {

// Step 13. Written by hand, because protobuf would copy every tensor twice.
//
//   | head, and for each output name, datatype, shape | raw contents | raw contents | …
//
// Each function appends to `out` and copies the outputs; the caller bounds the copies
// (UnreadCopies). Never blocks. Pure.

// `splices`, if any, gets outputs over kCopiedReplyBytes as views instead.
void AppendReply(const ReplyHead& head, const Answer& answer, std::string* out,
                 Splices* splices = nullptr);

// The same as a ModelStreamInferResponse.
void AppendStreamReply(const ReplyHead& head, const Answer& answer, std::string* out);

// Ends one request and leaves its stream open. By the protocol the error has no code.
void AppendStreamError(absl::string_view text, absl::string_view id, std::string* out);

}  // namespace mpsd
