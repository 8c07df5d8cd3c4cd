// HttpGate: where each request of HTTP passes the Gate.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/http/http_call.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Step 1 of a request, beside CallGate for gRPC: reads the credentials off a request and asks the
// Gate. HttpDoor, or the InferTask of an inference, calls Enter() for every request that no foreign
// page makes, also for a path that does not exist: only who has a role learns which paths exist. A
// request of inference takes its place among the open calls before. No byte of a body is kept
// before it.
//
//   credential                   where it is
//   names of a verified          the connection
//   client certificate
//   a token                      "Authorization: Bearer TOKEN" or "x-api-key: TOKEN"; once
//
// More than one of these headers is no valid token, whatever each says: a proxy may have judged the
// other one. The RefusalLog is told of each refusal, with the method's name or the path, and never
// with a credential. Owned by the daemon, asked by the doors of all threads. Thread-safe.
class HttpGate {
 public:
  // The referents outlive the gate.
  HttpGate(const Gate* gate, RefusalLog* refusals) : gate_(gate), refusals_(refusals) {}

  // Whether the caller may call the method: OK, UNAUTHENTICATED or PERMISSION_DENIED. Fills
  // `grant` for MayUse(). While no rules are in force it costs one load.
  absl::Status Enter(const HttpCall& call, const MethodAccess& method, Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return Told(Judge(call, method, grant), call, method);
  }

  // Whether the caller may use the method with this model; empty stands for all models. Where other
  // rules came into force since Enter(), the caller is held to these. REQUIRES: Enter() was OK.
  absl::Status MayUse(const HttpCall& call, const MethodAccess& method, absl::string_view model,
                      Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return MayUseInForce(call, method, model, grant);
  }

  // The same question where a refusal tells nobody anything: whether a list names the model.
  bool Sees(const MethodAccess& method, absl::string_view model, const Grant& grant) const {
    return !gate_->in_force() || gate_->MayUse(method, grant, model) == Verdict::kAllowed;
  }

 private:
  absl::Status MayUseInForce(const HttpCall& call, const MethodAccess& method,
                             absl::string_view model, Grant* grant) const;
  Verdict Judge(const HttpCall& call, const MethodAccess& method, Grant* grant) const;
  absl::Status Told(Verdict verdict, const HttpCall& call, const MethodAccess& method) const;

  const Gate* const gate_;
  RefusalLog* const refusals_;
};

}  // namespace mpsd
