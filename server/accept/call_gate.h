// CallGate: where each gRPC call of each service passes the Gate.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Reads the credentials of a gRPC call, which are its listener, its certificate and its token, and
// asks the Gate. Every call is an InferCall, a StreamCall or a GenericCall, and each of these calls
// Enter() before anything else. The RefusalLog is told of each refusal. A call that came by the
// control socket always passes, because the socket let in only callers that it knows. Owned by the
// GrpcServer. Thread-safe.
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

// Whether the call came by the control socket. Thread-safe.
bool CameByControlSocket(grpc::ServerContext* rpc);

}  // namespace mpsd
