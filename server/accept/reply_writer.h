// ReplyWriter: writes the answers of one call's or stream's request as gRPC messages.
//
// The one place where an answer meets the connection that it leaves by. HTTP has its own
// (server/rest), since its answers are JSON.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/statusor.h"
#include "server/accept/infer_call_context.h"
#include "server/exchange/infer_exchange.h"
#include "server/request/reply.h"
#include "server/wire/reply_wire.h"

namespace mpsd {

// Step 13 of a request: joins what the exchange knows of it, which is its message, its model and
// whether the answer is the last, with what the call knows of the client, and has server/wire write
// the bytes. Has the one buffer that answers need, and keeps it for the next one.
//
//   Answer ─▶ ReplyWriter ─▶ WriteReply or WriteStreamReply ─▶ grpc::ByteBuffer
//                                small outputs copied, large ones lent by the worker's memory
//
// Owned by an ExchangeTransport and used again from request to request. Lives on no thread of its
// own: the thread that gives the answer calls Write(), the call's own thread calls Trim() when the
// request has ended. Thread-compatible: the answers of one request never overlap.
class ReplyWriter {
 public:
  // One of WriteReply and WriteStreamReply: how the transport wraps an answer.
  using Format = decltype(&WriteReply);

  ReplyWriter(const InferCallContext* context, Format format)
      : context_(context), format_(format) {}

  // The message for an answer of the exchange's request, which came with the call `rpc`. A large
  // output stays in the worker's memory, held by the message, until gRPC has sent it. A status,
  // RESOURCE_EXHAUSTED, ends the request instead; an answer without outputs is always written, at
  // worst without its id. The answer's own bytes are not needed afterwards.
  absl::StatusOr<grpc::ByteBuffer> Write(const InferExchange& exchange,
                                         const grpc::ServerContextBase& rpc, const Answer& answer,
                                         bool is_last);

  // Who the client of the call is to server/wire: the ledger that counts lent memory, and the
  // address of the client's connection, for which it counts.
  ReplyPeer PeerOf(const grpc::ServerContextBase& rpc) const {
    return {context_->pins, context_->exchange.clock, rpc.peer()};
  }

  // Gives back what one large answer took: the small ones to come do not need it. Does nothing
  // after a small one, whose buffer the next answer uses again. REQUIRES: no Write() is going on.
  void Trim();

 private:
  const InferCallContext* const context_;
  const Format format_;
  std::string scratch_;  // the bytes of an answer that are copied, before gRPC has them
};

}  // namespace mpsd
