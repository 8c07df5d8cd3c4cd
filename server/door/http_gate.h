// HttpGate: where each request passes the Gate.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/http/http_call.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Step 1 of a request: reads the credentials off a request and asks the Gate.
// HttpDoor calls Enter() for every request that no foreign page makes; for an inference the
// InferTask does, after taking its place among the open calls. Paths that do not exist are
// included, because only callers with a role may learn which paths exist. No byte of a body is kept
// before.
//
//   credential                   where it is
//   none                         the control socket: always passes, since it let in only known
//                                callers
//   names of a verified          the connection
//   client certificate
//   a token                      "Authorization: Bearer TOKEN" or "x-api-key: TOKEN"; once
//
// If there is more than one of these headers, no token is valid: a proxy may have judged another
// one. The RefusalLog hears of each refusal, with the method's name or the path, never with a
// credential. Owned by the daemon, used by the doors of all threads. Thread-safe.
class HttpGate {
 public:
  // The referents outlive the gate.
  HttpGate(const Gate* gate, RefusalLog* refusals) : gate_(gate), refusals_(refusals) {}

  // Whether the caller may call the method: OK, UNAUTHENTICATED or PERMISSION_DENIED. Fills `grant`
  // for MayUse(). While no rules are in force it costs one load.
  absl::Status Enter(const HttpCall& call, const MethodAccess& method, Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return Told(Judge(call, method, grant), call, method);
  }

  // Whether the caller may use the method with this model; empty stands for all models. If other
  // rules came into force since Enter(), these are applied. REQUIRES: Enter() was OK.
  absl::Status MayUse(const HttpCall& call, const MethodAccess& method, absl::string_view model,
                      Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return MayUseInForce(call, method, model, grant);
  }

  // The same without telling anybody of a refusal: whether a list names the model.
  bool Sees(const MethodAccess& method, absl::string_view model, const Grant& grant) const {
    return !gate_->in_force() || gate_->MayUse(method, grant, model) == Verdict::kAllowed;
  }

  bool in_force() const { return gate_->in_force(); }

 private:
  absl::Status MayUseInForce(const HttpCall& call, const MethodAccess& method,
                             absl::string_view model, Grant* grant) const;
  Verdict Judge(const HttpCall& call, const MethodAccess& method, Grant* grant) const;
  absl::Status Told(Verdict verdict, const HttpCall& call, const MethodAccess& method) const;

  const Gate* const gate_;
  RefusalLog* const refusals_;
};

}  // namespace mpsd
