// CallGate: where each gRPC call of each service passes the Gate.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Thread-safe. Reads what a caller shows: the listener he came by, his certificate, his token. The
// first thing that InferCall, StreamCall and GenericCall do with a call that arrived, and all calls
// are one of these, is to have it pass here; what is refused is told to the RefusalLog. Who comes
// by the control socket passes always: the socket knew him.
class CallGate {
 public:
  // The referents outlive it.
  CallGate(const Gate* gate, RefusalLog* refusals) : gate_(gate), refusals_(refusals) {}

  // Whether the caller may call the method: OK, UNAUTHENTICATED or PERMISSION_DENIED.
  absl::Status Enter(grpc::ServerContext* rpc, const MethodAccess& method, Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return EnterInForce(rpc, method, grant);
  }

  // Whether he may do so with this model; empty stands for all of them. REQUIRES: Enter() was OK.
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

// True for a call that came by the control socket, whose listener knows its callers.
bool CameByControlSocket(grpc::ServerContext* rpc);

}  // namespace mpsd
