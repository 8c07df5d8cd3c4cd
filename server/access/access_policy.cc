#include "server/access/access_policy.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr absl::string_view kScheme = "bearer ";
constexpr absl::string_view kAnyCertificate = "*";

// Nothing if the header is not "Bearer TOKEN".
std::optional<absl::string_view> BearerToken(absl::string_view header) {
  if (!absl::StartsWithIgnoreCase(header, kScheme)) return std::nullopt;
  header.remove_prefix(kScheme.size());
  if (header.empty()) return std::nullopt;
  return header;
}

}  // namespace

AccessPolicy::AccessPolicy(const AccessRules& rules) : open_(rules.open) {
  MPSD_CHECK(rules.rules.size() <= kMaxAccessRules && rules.tokens.size() <= kMaxAccessTokens);
  for (const AccessToken& token : rules.tokens) {
    Token& known = tokens_.emplace_back();
    known.digest = token.digest;
    for (size_t i = 0; i < rules.rules.size(); ++i) {
      if (rules.rules[i].token == token.name) known.rules.set(i);
    }
  }
  for (const AccessRule& rule : rules.rules) {
    MPSD_CHECK(rule.token.empty() != rule.certificate.empty());
    rules_.push_back({rule.roles, rule.certificate, {rule.models.begin(), rule.models.end()}});
  }
  rates_.resize(kMaxTenants);
  if (rules.tenants.header.empty()) {
    NumberCredentials(rules.rules);
  } else {
    NumberNames(rules.tenants);
  }
}

void AccessPolicy::NumberNames(const TenantRules& tenants) {
  MPSD_CHECK(tenants.named.size() <= kMaxNamedTenants);
  tenant_header_ = tenants.header;
  for (const NamedTenant& tenant : tenants.named) {
    const auto number = static_cast<uint32_t>(named_tenants_.size()) + 1;
    named_tenants_.emplace(tenant.name, number);
    rates_[number] = tenant.rate;
  }
  rates_[kMaxTenants - 1] = tenants.others;
}

void AccessPolicy::NumberCredentials(const std::vector<AccessRule>& rules) {
  using Credential = std::pair<absl::string_view, absl::string_view>;  // one of the two is empty
  std::vector<Credential> tenants;
  bool any_rate = false;
  for (const AccessRule& rule : rules) {
    const Credential credential = {rule.token, rule.certificate};
    const bool is_known = std::find(tenants.begin(), tenants.end(), credential) != tenants.end();
    if (rule.roles.Meets(kModelInferAccess.roles) && !is_known) tenants.push_back(credential);
    any_rate = any_rate || rule.rate.rows_per_second > 0;
  }
  if (tenants.size() < 2 && !any_rate) return;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Credential credential = {rules[i].token, rules[i].certificate};
    const auto found = std::find(tenants.begin(), tenants.end(), credential);
    if (found == tenants.end()) continue;
    const auto number = static_cast<uint32_t>(found - tenants.begin()) + 1;
    rules_[i].tenant = std::min(number, kMaxTenants - 1);
    if (rules[i].rate.rows_per_second > 0) rates_[rules_[i].tenant] = rules[i].rate;
  }
}

uint32_t AccessPolicy::TenantOf(const RuleSet& rules, const Credentials& credentials) const {
  if (!tenant_header_.empty()) {
    if (credentials.headers == nullptr) return kMaxTenants - 1;
    const auto named = named_tenants_.find(credentials.headers->Header(tenant_header_));
    return named == named_tenants_.end() ? kMaxTenants - 1 : named->second;
  }
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules.test(i) && rules_[i].tenant > 0) return rules_[i].tenant;
  }
  return 0;
}

// False if the token is unknown. Always compares all tokens, so that the time reveals nothing.
bool AccessPolicy::AddTokensRules(const Credentials& credentials, RuleSet* rules) const {
  const std::optional<absl::string_view> text = BearerToken(credentials.authorization);
  if (!text.has_value() || credentials.has_repeated_header) return false;
  const std::optional<Sha256Digest> digest = Sha256(*text);
  if (!digest.has_value()) return false;
  bool known = false;
  for (const Token& token : tokens_) {
    if (!EqualInConstantTime(token.digest, *digest)) continue;
    *rules |= token.rules;
    known = true;
  }
  return known;
}

Verdict AccessPolicy::Enter(const MethodAccess& method, const Credentials& credentials,
                            RuleSet* rules) const {
  rules->reset();
  if (IsOpen(method)) return Verdict::kAllowed;
  const bool has_header = !credentials.authorization.empty() || credentials.has_repeated_header;
  if (has_header && !AddTokensRules(credentials, rules)) return Verdict::kUnauthenticated;
  if (!has_header && credentials.certificate_names.empty()) return Verdict::kUnauthenticated;
  for (size_t i = 0; i < rules_.size(); ++i) {
    for (const absl::string_view name : credentials.certificate_names) {
      const absl::string_view wanted = rules_[i].certificate;
      if (!wanted.empty() && (wanted == kAnyCertificate || wanted == name)) rules->set(i);
    }
  }
  return HasRole(method, *rules) ? Verdict::kAllowed : Verdict::kDenied;
}

bool AccessPolicy::HasRole(const MethodAccess& method, const RuleSet& rules) const {
  for (size_t i = 0; i < rules_.size(); ++i) {
    const bool applies = rules.test(i) && rules_[i].roles.Meets(method.roles);
    // A method about all models needs a rule without a list of models.
    if (applies && (method.scope != Scope::kAllModels || rules_[i].models.empty())) return true;
  }
  return false;
}

Verdict AccessPolicy::MayUse(const MethodAccess& method, const RuleSet& rules,
                             absl::string_view model) const {
  const bool of_server = model.empty() || model == kServerName;
  const bool of_model =
      method.scope == Scope::kModel || (method.scope == Scope::kModelIfAny && !of_server);
  if (!of_model || IsOpen(method)) return Verdict::kAllowed;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!rules.test(i) || !rules_[i].roles.Meets(method.roles)) continue;
    if (rules_[i].models.empty() || rules_[i].models.contains(model)) return Verdict::kAllowed;
  }
  return Verdict::kDenied;
}

}  // namespace mpsd
