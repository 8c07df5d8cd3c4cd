// WriteReply: writes a ModelInferResponse whose large tensors stay where the worker wrote them.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"
#include "server/request/reply.h"
#include "server/telemetry/model_metrics.h"
#include "server/wire/pin_ledger.h"
#include "server/wire/reply_head.h"

namespace mpsd {

// Step 13 of a request: an answer becomes the bytes of a gRPC message. Called by accept/ for its
// exchanges, on the thread that gives the answer, so that nothing here blocks or waits for a lock.
// The message is written by hand, since protobuf would copy every tensor into a message object and
// then again into bytes:
//
//   | head, and for each output name, datatype, shape | raw contents | raw contents | …
//     copied, in `scratch`                              over kCopiedReplyBytes: a slice that is
//                                                       pinned or copied; else in `scratch`
//
// What lies in `scratch` between two such slices counts as a copy itself where it is over
// kCopiedReplyBytes: many small outputs, or a long id, are much for a client to leave unread.

// Who holds the answer's memory while the answer is sent. Read only for large answers, see
// MayBeLarge(): others need not find out the address, which costs a string.
struct ReplyPeer {
  std::shared_ptr<PinLedger> ledger;
  const Clock* clock = nullptr;
  std::string address;
};

// Writes the answer. Copies small outputs. A large output becomes a slice of the answer's memory,
// which holds a reference until gRPC releases the slice; it is copied instead where the worker or
// the connection has too much pinned already, which is counted in `metrics`, or where the answer
// has no memory of its own. RESOURCE_EXHAUSTED, with a time to come again, when something large
// would have to be copied and clients have left too many copies unread; nothing stays pinned then.
// `scratch` is the caller's buffer, used again from call to call. Thread-safe.
absl::StatusOr<grpc::ByteBuffer> WriteReply(const ReplyHead& head, const Answer& answer,
                                            const ReplyPeer& peer, ModelMetrics* metrics,
                                            std::string* scratch);

// False when all of the answer is surely at most kCopiedReplyBytes, so that WriteReply() reads no
// peer. Pure.
bool MayBeLarge(const ReplyHead& head, const Answer& answer);

// Likewise, as a ModelStreamInferResponse, whose second field is the answer. Thread-safe.
absl::StatusOr<grpc::ByteBuffer> WriteStreamReply(const ReplyHead& head, const Answer& answer,
                                                  const ReplyPeer& peer, ModelMetrics* metrics,
                                                  std::string* scratch);

// A ModelStreamInferResponse with an error, which ends one request and leaves its stream open: the
// error has a text and no code, as the protocol has it. `id` is the request's; one over
// kCopiedReplyBytes counts as a copy, and is left out where the client has left too many unread.
// Thread-safe.
grpc::ByteBuffer WriteStreamError(absl::string_view text, absl::string_view id,
                                  const ReplyPeer& peer);

}  // namespace mpsd
