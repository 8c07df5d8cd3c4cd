#include "server/accept/call_gate.h"

#include <grpc/grpc_security.h>
#include <grpc/grpc_security_constants.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"

namespace mpsd {
namespace {

// The security type of the control socket's listener only.
constexpr absl::string_view kLocal = "local";
constexpr char kAuthorization[] = "authorization";
// Limit of names read from one certificate.
constexpr size_t kMaxCertificateNames = 32;

using CertificateNames = absl::InlinedVector<absl::string_view, kMaxCertificateNames>;

struct ReleaseContext {
  void operator()(grpc_auth_context* context) const { grpc_auth_context_release(context); }
};
// Uses gRPC's C functions: their C++ counterparts copy everything to the heap.
using AuthContext = std::unique_ptr<grpc_auth_context, ReleaseContext>;

AuthContext AuthContextOf(grpc::ServerContext* rpc) {
  return AuthContext(grpc_call_auth_context(rpc->c_call()));
}

bool IsControlSocket(const AuthContext& context) {
  if (context == nullptr) return false;
  grpc_auth_property_iterator properties = grpc_auth_context_find_properties_by_name(
      context.get(), GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  const grpc_auth_property* type = grpc_auth_property_iterator_next(&properties);
  return type != nullptr && absl::string_view(type->value, type->value_length) == kLocal;
}

void AddNames(const AuthContext& context, const char* property, CertificateNames* names) {
  grpc_auth_property_iterator properties =
      grpc_auth_context_find_properties_by_name(context.get(), property);
  const grpc_auth_property* name = nullptr;
  while (names->size() < kMaxCertificateNames &&
         (name = grpc_auth_property_iterator_next(&properties)) != nullptr) {
    names->emplace_back(name->value, name->value_length);
  }
}

// Names in the client's certificate; none if no certificate was verified.
CertificateNames CertificateNamesOf(const AuthContext& context) {
  CertificateNames names;
  if (context == nullptr || grpc_auth_context_peer_is_authenticated(context.get()) == 0) {
    return names;
  }
  AddNames(context, GRPC_X509_CN_PROPERTY_NAME, &names);
  AddNames(context, GRPC_X509_SAN_PROPERTY_NAME, &names);
  return names;
}

class CallHeaders final : public HeaderSource {
 public:
  explicit CallHeaders(const grpc::ServerContext& rpc) : rpc_(rpc) {}

  absl::string_view Header(absl::string_view name) const override {
    const auto& headers = rpc_.client_metadata();
    const auto found = headers.find(grpc::string_ref(name.data(), name.size()));
    if (found == headers.end()) return "";
    return {found->second.data(), found->second.size()};
  }

 private:
  const grpc::ServerContext& rpc_;
};

}  // namespace

bool CameByControlSocket(grpc::ServerContext* rpc) { return IsControlSocket(AuthContextOf(rpc)); }

Verdict CallGate::Judge(grpc::ServerContext* rpc, const MethodAccess& method, Grant* grant) const {
  const CallHeaders call_headers(*rpc);
  Credentials credentials;
  credentials.headers = &call_headers;
  if (gate_->IsOpen(method)) return gate_->Enter(method, credentials, grant);
  const AuthContext context = AuthContextOf(rpc);
  if (IsControlSocket(context)) return Verdict::kAllowed;
  const CertificateNames names = CertificateNamesOf(context);
  credentials.certificate_names = names;
  const auto headers = rpc->client_metadata().equal_range(kAuthorization);
  if (headers.first != headers.second) {
    const grpc::string_ref value = headers.first->second;
    credentials.authorization = {value.data(), value.size()};
    credentials.has_repeated_header = std::next(headers.first) != headers.second;
  }
  return gate_->Enter(method, credentials, grant);
}

absl::Status CallGate::EnterInForce(grpc::ServerContext* rpc, const MethodAccess& method,
                                    Grant* grant) const {
  return Told(Judge(rpc, method, grant), *rpc, method);
}

absl::Status CallGate::MayUseInForce(grpc::ServerContext* rpc, const MethodAccess& method,
                                     absl::string_view model, Grant* grant) const {
  std::optional<Verdict> verdict = gate_->MayUse(method, *grant, model);
  if (!verdict.has_value()) {
    if (CameByControlSocket(rpc)) return absl::OkStatus();
    // Other rules came into force: the caller's credentials are checked against these.
    const Verdict entered = Judge(rpc, method, grant);
    if (entered != Verdict::kAllowed) return Told(entered, *rpc, method);
    verdict = gate_->MayUse(method, *grant, model);
  }
  return Told(verdict.value_or(Verdict::kDenied), *rpc, method);
}

absl::Status CallGate::Told(Verdict verdict, const grpc::ServerContext& rpc,
                            const MethodAccess& method) const {
  if (verdict == Verdict::kAllowed) return absl::OkStatus();
  refusals_->Tell(verdict, std::string_view(method.name.data(), method.name.size()), rpc.peer());
  return StatusOf(verdict);
}

}  // namespace mpsd
