// CallGate: where each gRPC call passes the Gate.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Step 1 of a request. Reads a gRPC call's credentials (listener, certificate, token) and asks the
// Gate, which knows no gRPC. Every InferCall, StreamCall and GenericCall calls Enter() before
// anything else, so no method can forget the gate. While rules are in force, an unlisted method is
// refused.
//
//   which                        credential            where it is
//   a call by the control socket the socket itself     the listener's security type: always passes,
//                                                      since the socket let in only known callers
//   a call over TLS              names of a verified   the connection; the first 32 names count
//                                client certificate
//   any call                     "Bearer TOKEN"        the header `authorization`, once
//
// The RefusalLog hears of each refusal. The client learns neither whether the method exists nor
// whether the model does. Owned by the GrpcServer. Thread-safe.
class CallGate {
 public:
  // The referents outlive the gate.
  CallGate(const Gate* gate, RefusalLog* refusals) : gate_(gate), refusals_(refusals) {}

  // Whether the caller may call the method: OK, UNAUTHENTICATED or PERMISSION_DENIED. Fills `grant`
  // for MayUse(). While no rules are in force it costs one load.
  absl::Status Enter(grpc::ServerContext* rpc, const MethodAccess& method, Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return EnterInForce(rpc, method, grant);
  }

  // Whether the caller may use the method with this model; empty stands for all models. If other
  // rules came into force since Enter(), these are applied, and `grant` is renewed. REQUIRES:
  // Enter() was OK.
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

// Whether the call came by the control socket. No client can fake that: the listener's own
// credentials say so. Thread-safe.
bool CameByControlSocket(grpc::ServerContext* rpc);

}  // namespace mpsd
