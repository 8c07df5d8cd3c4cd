// CallGate: where each gRPC call of each service passes the Gate.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Step 1 of a request. Reads the credentials of a gRPC call, which are its listener, its
// certificate and its token, and asks the Gate, which knows no gRPC. Every call is an InferCall, a
// StreamCall or a GenericCall, and each of these calls Enter() before anything else: no method can
// forget the gate, and while rules are in force one that is in no list is refused.
//
//   which                        credential            where it is
//   a call by the control socket the socket itself     the listener's security type: always passes,
//                                                      since the socket let in only known callers
//   a call over TLS              names of a verified   the connection; the first 32 names count
//                                client certificate
//   any call                     "Bearer TOKEN"        the header `authorization`, once
//
// The RefusalLog is told of each refusal; the client learns neither whether the method nor whether
// the model exists. Owned by the GrpcServer. Thread-safe.
class CallGate {
 public:
  // The referents outlive the gate.
  CallGate(const Gate* gate, RefusalLog* refusals) : gate_(gate), refusals_(refusals) {}

  // Whether the caller may call the method: OK, UNAUTHENTICATED or PERMISSION_DENIED. Fills
  // `grant` for MayUse(). While no rules are in force it costs one load.
  absl::Status Enter(grpc::ServerContext* rpc, const MethodAccess& method, Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return EnterInForce(rpc, method, grant);
  }

  // Whether the caller may use the method with this model; empty stands for all models. Where other
  // rules came into force since Enter(), the caller is held to these, and `grant` is renewed.
  // REQUIRES: Enter() was OK.
  absl::Status MayUse(grpc::ServerContext* rpc, const MethodAccess& method, absl::string_view model,
                      Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return MayUseInForce(rpc, method, model, grant);
  }

 private:
  absl::Status EnterInForce(grpc::ServerContext* rpc, const MethodAccess& method,
                            Grant* grant) const;
  absl::Status MayUseInForce(grpc::ServerContext* rpc, const MethodAccess& method,
                             absl::string_view model, Grant* grant) const;
  Verdict Judge(grpc::ServerContext* rpc, const MethodAccess& method, Grant* grant) const;
  absl::Status Told(Verdict verdict, const grpc::ServerContext& rpc,
                    const MethodAccess& method) const;

  const Gate* const gate_;
  RefusalLog* const refusals_;
};

// Whether the call came by the control socket, which no client can claim: the listener's own
// credentials say so. Thread-safe.
bool CameByControlSocket(grpc::ServerContext* rpc);

}  // namespace mpsd
