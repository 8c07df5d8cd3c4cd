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

// Step 13 of a request: an answer becomes the bytes of a gRPC message. Called by accept/ on the
// thread that gives the answer, so nothing here blocks or waits for a lock. The message is written
// by hand, because protobuf would copy every tensor twice.
//
//   | head, and for each output name, datatype, shape | raw contents | raw contents | …
//     copied, in `scratch`                              over kCopiedReplyBytes: a slice that is
//                                                       pinned or copied; else in `scratch`
//
// A part of `scratch` between two such slices counts as a copy too if it exceeds kCopiedReplyBytes:
// many small outputs, or a long id.

// The client that the answer's memory is accounted to while it is sent. Read only for large
// answers, see MayBeLarge(); otherwise the caller may leave out the address, which costs a string.
struct ReplyPeer {
  std::shared_ptr<PinLedger> ledger;
  const Clock* clock = nullptr;
  std::string address;
};

// Writes the answer. Small outputs are copied. A large output becomes a slice of the answer's
// memory, which holds a reference until gRPC releases the slice. It is copied instead if the worker
// or the connection has too much pinned already; `metrics` counts this. It is also copied if the
// answer has no memory of its own. RESOURCE_EXHAUSTED, with a time to retry, if a large part must
// be copied but clients have left too many copies unread. Nothing stays pinned then. The caller's
// buffer `scratch` is reused from call to call. Thread-safe.
absl::StatusOr<grpc::ByteBuffer> WriteReply(const ReplyHead& head, const Answer& answer,
                                            const ReplyPeer& peer, ModelMetrics* metrics,
                                            std::string* scratch);

// The same bytes at the end of `out`, each output copied. The caller bounds the copies.
void AppendReply(const ReplyHead& head, const Answer& answer, std::string* out);

// The same as a ModelStreamInferResponse, whose second field is the answer.
void AppendStreamReply(const ReplyHead& head, const Answer& answer, std::string* out);

// False if the whole answer surely has at most kCopiedReplyBytes, so that WriteReply() reads no
// peer. Pure.
bool MayBeLarge(const ReplyHead& head, const Answer& answer);

// The same as a ModelStreamInferResponse, whose second field is the answer. Thread-safe.
absl::StatusOr<grpc::ByteBuffer> WriteStreamReply(const ReplyHead& head, const Answer& answer,
                                                  const ReplyPeer& peer, ModelMetrics* metrics,
                                                  std::string* scratch);

// A ModelStreamInferResponse with an error, which ends one request and leaves its stream open. By
// the protocol, the error has no code. An `id` over kCopiedReplyBytes counts as a copy, and is left
// out if the client has left too many unread. Thread-safe.
grpc::ByteBuffer WriteStreamError(absl::string_view text, absl::string_view id,
                                  const ReplyPeer& peer);

// The same bytes at the end of `out`. The caller bounds the copies.
void AppendStreamError(absl::string_view text, absl::string_view id, std::string* out);

}  // namespace mpsd
