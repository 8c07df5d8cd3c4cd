// AccessPolicy: decides who may call what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/limits.h"
#include "server/access/access_rules.h"
#include "server/access/method_access.h"

namespace mpsd {

// StatusOf() has the client's answers.
enum class Verdict {
  kAllowed,
  kUnauthenticated,  // the caller is unknown: other credentials may help
  kDenied,           // no rule of the caller allows it
};

// A call's headers. Lives on the stack of the thread that asks the gate.
class HeaderSource {
 public:
  virtual ~HeaderSource() = default;

  // `name` is in small letters; empty: none.
  virtual absl::string_view Header(absl::string_view name) const = 0;
};

struct Credentials {
  absl::string_view authorization;                        // empty: none
  bool has_repeated_header = false;                       // then no token is valid
  absl::Span<const absl::string_view> certificate_names;  // from a verified certificate
  const HeaderSource* headers = nullptr;                  // may name a tenant; null: none
};

// Takes no heap memory. Owned by the Gate. Thread-safe: constant, and every decision is pure.
//
// The first line that applies decides:
//   the method has an open role                       allowed, with any credentials or none
//   no credentials, or an unknown token               UNAUTHENTICATED, even with a good certificate
//   no rule of the caller gives a role of the method  DENIED
//   none of these rules includes the model            DENIED
//   otherwise                                         allowed
class AccessPolicy {
 public:
  // REQUIRES: at most kMaxAccessRules rules and kMaxAccessTokens tokens; each rule names a token or
  // a certificate.
  explicit AccessPolicy(const AccessRules& rules);

  bool IsOpen(const MethodAccess& method) const { return open_.Meets(method.roles); }

  // Whether the caller may call the method with any model. Always sets `*rules` to the caller's.
  Verdict Enter(const MethodAccess& method, const Credentials& credentials, RuleSet* rules) const;

  // An empty name stands for all models, or for the server if Scope says so. REQUIRES: Enter()
  // allowed the caller and gave `rules`.
  Verdict MayUse(const MethodAccess& method, const RuleSet& rules, absl::string_view model) const;

  // By TenantRules, a header's tenant. Else each credential that may infer is a tenant, and the
  // caller's first rule counts; 0 if there is one tenant without a rate. Beyond kMaxTenants - 1,
  // tenants share one.
  uint32_t TenantOf(const RuleSet& rules, const Credentials& credentials) const;

  // By the tenants' numbers.
  const std::vector<RowRate>& rates() const { return rates_; }

 private:
  struct Token {
    Sha256Digest digest{};
    RuleSet rules;
  };

  void NumberCredentials(const std::vector<AccessRule>& rules);
  void NumberNames(const TenantRules& tenants);
  bool AddTokensRules(const Credentials& credentials, RuleSet* rules) const;
  bool HasRole(const MethodAccess& method, const RuleSet& rules) const;

  const RoleSet open_;
  std::vector<Token> tokens_;
  struct Rule {
    RoleSet roles;
    std::string certificate;
    absl::flat_hash_set<std::string> models;
    uint32_t tenant = 0;
  };
  std::vector<Rule> rules_;
  std::string tenant_header_;
  absl::flat_hash_map<std::string, uint32_t> named_tenants_;
  std::vector<RowRate> rates_;
};

}  // namespace mpsd
