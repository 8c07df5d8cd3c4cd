// ReplyWriter: writes the answers of one call's or stream's request as gRPC messages.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/status/statusor.h"
#include "server/accept/infer_call_context.h"
#include "server/exchange/infer_exchange.h"
#include "server/request/reply.h"
#include "server/wire/reply_wire.h"

namespace mpsd {

// Owned by an ExchangeTransport and used again from request to request. Thread-compatible: the
// answers of one request never overlap.
class ReplyWriter {
 public:
  // One of WriteReply and WriteStreamReply.
  using Format = decltype(&WriteReply);

  ReplyWriter(const InferCallContext* context, Format format)
      : context_(context), format_(format) {}

  // The message for an answer of the exchange's request, which came with the call `rpc`. A status
  // ends the request instead.
  absl::StatusOr<grpc::ByteBuffer> Write(const InferExchange& exchange,
                                         const grpc::ServerContextBase& rpc, const Answer& answer,
                                         bool is_last);

  // Gives back what one large answer took: the small ones to come do not need it.
  void Trim();

 private:
  const InferCallContext* const context_;
  const Format format_;
  std::string scratch_;
};

}  // namespace mpsd
