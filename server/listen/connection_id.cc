#include "server/listen/connection_id.h"

#include <grpc/grpc_security.h>
#include <grpcpp/grpcpp.h>

namespace mpsd {

// gRPC makes one record of the handshake for each connection, even insecure ones, and counts its
// users.
ConnectionId ConnectionOf(grpc::ServerContextBase* call) {
  grpc_auth_context* const handshake = grpc_call_auth_context(call->c_call());
  return ConnectionId(handshake,
                      [handshake](const void*) { grpc_auth_context_release(handshake); });
}

}  // namespace mpsd
