// HttpGate: where each request passes the Gate.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/access/gate.h"
#include "server/http/http_call.h"
#include "server/telemetry/log/refusal_log.h"

namespace mpsd {

// Reads the credentials off a request and asks the Gate, before a byte of the body is kept. Paths
// that do not exist pass too: only callers with a role may learn which exist.
//
//   credential                   where it is
//   none                         the control socket: always passes, since it let in only known
//                                callers
//   names of a verified          the connection
//   client certificate
//   a token                      "Authorization: Bearer TOKEN" or "x-api-key: TOKEN"; once
//
// With more than one of these headers no token is valid: a proxy may have judged another one. The
// RefusalLog never hears a credential. Owned by the daemon, used by all doors. Thread-safe.
class HttpGate {
 public:
  // The referents outlive the gate.
  HttpGate(const Gate* gate, RefusalLog* refusals) : gate_(gate), refusals_(refusals) {}

  // OK, UNAUTHENTICATED or PERMISSION_DENIED. Fills `grant` for MayUse(). Costs one load while no
  // rules are in force.
  absl::Status Enter(const HttpCall& call, const MethodAccess& method, Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return Told(Judge(call, method, grant), call, method);
  }

  // An empty model stands for all. Applies rules that came into force since Enter(). REQUIRES:
  // Enter() was OK.
  absl::Status MayUse(const HttpCall& call, const MethodAccess& method, absl::string_view model,
                      Grant* grant) const {
    if (!gate_->in_force()) return absl::OkStatus();
    return MayUseInForce(call, method, model, grant);
  }

  // Whether a list names the model. Tells nobody of a refusal.
  bool Sees(const HttpCall& call, const MethodAccess& method, absl::string_view model,
            const Grant& grant) const {
    if (!gate_->in_force() || call.by_control_socket()) return true;
    return gate_->MayUse(method, grant, model) == Verdict::kAllowed;
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
