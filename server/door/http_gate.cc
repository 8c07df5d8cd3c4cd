#include "server/door/http_gate.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

constexpr char kAuthorization[] = "authorization";
constexpr char kApiKey[] = "x-api-key";

class CallHeaders final : public HeaderSource {
 public:
  explicit CallHeaders(const HttpRequest& request) : request_(request) {}

  absl::string_view Header(absl::string_view name) const override { return request_.Header(name); }

 private:
  const HttpRequest& request_;
};

}  // namespace

Verdict HttpGate::Judge(const HttpCall& call, const MethodAccess& method, Grant* grant) const {
  // The control socket let in only known callers.
  if (call.by_control_socket() && !gate_->IsOpen(method)) return Verdict::kAllowed;
  const HttpRequest& request = call.request();
  const auto names = call.certificate_names();
  const std::vector<absl::string_view> certificate_names(names.begin(), names.end());
  const CallHeaders headers(request);
  Credentials credentials;
  credentials.headers = &headers;
  credentials.certificate_names = certificate_names;
  const size_t keys = request.CountOf(kApiKey);
  credentials.has_repeated_header = request.CountOf(kAuthorization) + keys > 1;
  credentials.authorization = request.Header(kAuthorization);
  std::string bearer;
  if (keys > 0) {
    bearer = absl::StrCat("Bearer ", request.Header(kApiKey));
    credentials.authorization = bearer;
  }
  return gate_->Enter(method, credentials, grant);
}

absl::Status HttpGate::MayUseInForce(const HttpCall& call, const MethodAccess& method,
                                     absl::string_view model, Grant* grant) const {
  std::optional<Verdict> verdict = gate_->MayUse(method, *grant, model);
  if (!verdict.has_value()) {
    if (call.by_control_socket()) return absl::OkStatus();
    // Other rules came into force.
    const Verdict entered = Judge(call, method, grant);
    if (entered != Verdict::kAllowed) return Told(entered, call, method);
    verdict = gate_->MayUse(method, *grant, model);
  }
  return Told(verdict.value_or(Verdict::kDenied), call, method);
}

absl::Status HttpGate::Told(Verdict verdict, const HttpCall& call,
                            const MethodAccess& method) const {
  if (verdict == Verdict::kAllowed) return absl::OkStatus();
  const absl::string_view path = call.request().path;
  const absl::string_view name = method.name.empty() ? path : method.name;
  refusals_->Tell(verdict, {name.data(), name.size()}, call.peer());
  return StatusOf(verdict);
}

}  // namespace mpsd
