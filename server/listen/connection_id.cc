#include "server/listen/connection_id.h"

#include <grpc/grpc_security.h>
#include <grpcpp/grpcpp.h>

namespace mpsd {

// What gRPC keeps of a connection's handshake, which it has of insecure ones too, is made once a
// connection and counted.
ConnectionId ConnectionOf(grpc::ServerContextBase* call) {
  grpc_auth_context* const handshake = grpc_call_auth_context(call->c_call());
  return ConnectionId(handshake,
                      [handshake](const void*) { grpc_auth_context_release(handshake); });
}

}  // namespace mpsd
