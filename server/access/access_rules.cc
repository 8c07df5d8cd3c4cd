#include "server/access/access_rules.h"

namespace mpsd {

AccessRules ControlOnItsSocketOnly() {
  AccessRules rules;
  rules.in_force = true;
  rules.open = RoleSet(Role::kInfer) | Role::kHealth | Role::kMetrics | Role::kReflection;
  return rules;
}

}  // namespace mpsd
