// http_infer: a call as a request of HTTP, and the reply to it as gRPC would have told it. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "grpcpp/support/status.h"
#include "proto/inference.pb.h"
#include "tests/crash/call_history.h"

namespace mpsd::crash {

// A request with its head, for a connection that is kept. Tensors are JSON, or lie behind it.
std::string HttpInferRequest(const std::string& model, const PayloadPlan& plan, const Call& call);

// The server's reply.
struct HttpReply {
  unsigned code = 0;
  size_t json_bytes = 0;  // the body's first bytes; the rest are tensors
  std::string body;
};

// How a call has ended.
struct CallEnding {
  grpc::Status status;
  inference::ModelInferResponse response;
};

// An answer that nobody can read is UNKNOWN.
CallEnding HttpInferEnding(const HttpReply& reply);

}  // namespace mpsd::crash
