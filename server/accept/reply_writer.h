// ReplyWriter: writes a request's answers as gRPC messages.
//
// Only here an answer meets its connection. HTTP has its own way (server/rest), since its answers
// are JSON.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/statusor.h"
#include "server/accept/infer_call_context.h"
#include "server/exchange/infer_exchange.h"
#include "server/request/reply.h"
#include "server/wire/reply_wire.h"

namespace mpsd {

// Step 13 of a request. Joins the exchange's facts (message, model, whether the answer is the last)
// with the call's facts about the client, and has server/wire write the bytes. Has the one buffer
// that answers need, and keeps it for the next one.
//
//   Answer ─▶ ReplyWriter ─▶ WriteReply or WriteStreamReply ─▶ grpc::ByteBuffer
//                                small outputs copied, large ones lent by the worker's memory
//
// Owned by an ExchangeTransport and used again for each request. The answering thread calls
// Write(), the call's own thread calls Trim() when the request has ended. Thread-compatible: the
// answers of one request never overlap.
class ReplyWriter {
 public:
  // WriteReply or WriteStreamReply: how the transport wraps an answer.
  using Format = decltype(&WriteReply);

  ReplyWriter(const InferCallContext* context, Format format)
      : context_(context), format_(format) {}

  // The message for an answer to the exchange's request, which came with the call `rpc`. A large
  // output stays in the worker's memory, held by the message, until gRPC has sent it. A
  // RESOURCE_EXHAUSTED status ends the request instead. An answer without outputs is always
  // written, at worst without its id. The answer's own bytes are not needed afterwards.
  absl::StatusOr<grpc::ByteBuffer> Write(const InferExchange& exchange,
                                         const grpc::ServerContextBase& rpc, const Answer& answer,
                                         bool is_last);

  // The client as server/wire sees it: the ledger that counts lent memory, and the connection's
  // address, for which it counts.
  ReplyPeer PeerOf(const grpc::ServerContextBase& rpc) const {
    return {context_->pins, context_->exchange.clock, rpc.peer()};
  }

  // Frees what one large answer took, since small ones do not need it. After a small one it does
  // nothing: the next answer uses the buffer again. REQUIRES: no Write() is running.
  void Trim();

 private:
  const InferCallContext* const context_;
  const Format format_;
  std::string scratch_;  // copied bytes of an answer, before gRPC has them
};

}  // namespace mpsd
