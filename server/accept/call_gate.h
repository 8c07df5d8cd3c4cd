// CallGate: where each gRPC call of each service passes the Gate.
#pragma once

#include <grpcpp/grpcpp.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "server/access/gate.h"
#include "server/telemetry/access_metrics.h"
#include "server/telemetry/log.h"
#include "server/telemetry/rate_limit.h"

namespace mpsd {

// Thread-safe. Reads what a caller shows: the listener he came by, his certificate, his token. The
// first thing that InferCall, StreamCall and GenericCall do with a call that arrived, and all calls
// are one of these, is to have it pass here; what is refused is counted, and logged a few times a
// second at most. Who comes by the control socket passes always: the socket knew him.
class CallGate {
 public:
  // The referents outlive it.
  CallGate(const Gate* gate, AccessMetrics* metrics, Logger* logger, const Clock* clock)
      : gate_(gate),
        metrics_(metrics),
        logger_(logger),
        clock_(clock),
        lines_(kLinesPerSecond, clock->NowNs()) {}

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
  static constexpr uint32_t kLinesPerSecond = 5;

  absl::Status EnterInForce(grpc::ServerContext* rpc, const MethodAccess& method,
                            Grant* grant) const;
  absl::Status MayUseInForce(grpc::ServerContext* rpc, const MethodAccess& method,
                             absl::string_view model, Grant* grant) const;
  Verdict Judge(grpc::ServerContext* rpc, const MethodAccess& method, Grant* grant) const;
  absl::Status Told(Verdict verdict, const grpc::ServerContext& rpc,
                    const MethodAccess& method) const ABSL_LOCKS_EXCLUDED(mu_);

  const Gate* const gate_;
  AccessMetrics* const metrics_;
  Logger* const logger_;
  const Clock* const clock_;

  mutable absl::Mutex mu_;
  mutable RateLimit lines_ ABSL_GUARDED_BY(mu_);
};

// True for a call that came by the control socket, whose listener knows its callers.
bool CameByControlSocket(grpc::ServerContext* rpc);

}  // namespace mpsd
