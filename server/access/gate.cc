#include "server/access/gate.h"

#include <utility>
#include <vector>

namespace mpsd {

void Gate::SetRules(const AccessRules& rules) {
  auto policy = std::make_unique<const AccessPolicy>(rules);
  absl::MutexLock lock(&mu_);
  if (policy_ != nullptr && rules == rules_) return;
  rules_ = rules;
  policy_.swap(policy);
  rates_.SetRates(rules.in_force ? policy_->rates() : std::vector<RowRate>());
  ++version_;
  in_force_.store(rules.in_force, std::memory_order_release);
}

bool Gate::IsOpen(const MethodAccess& method) const {
  absl::ReaderMutexLock lock(&mu_);
  return policy_ != nullptr && policy_->IsOpen(method);
}

Verdict Gate::Enter(const MethodAccess& method, const Credentials& credentials,
                    Grant* grant) const {
  absl::ReaderMutexLock lock(&mu_);
  grant->version = version_;
  if (policy_ == nullptr) return Verdict::kDenied;
  const Verdict verdict = policy_->Enter(method, credentials, &grant->rules);
  grant->tenant = policy_->TenantOf(grant->rules, credentials);
  return verdict;
}

std::optional<Verdict> Gate::MayUse(const MethodAccess& method, const Grant& grant,
                                    absl::string_view model) const {
  absl::ReaderMutexLock lock(&mu_);
  // An older grant has older rules' indices.
  if (policy_ == nullptr || grant.version != version_) return std::nullopt;
  return policy_->MayUse(method, grant.rules, model);
}

absl::Status StatusOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAllowed:
      return absl::OkStatus();
    case Verdict::kUnauthenticated:
      return absl::UnauthenticatedError("valid credentials are required for this call");
    case Verdict::kDenied:
      break;
  }
  return absl::PermissionDeniedError("these credentials do not allow this call");
}

}  // namespace mpsd
