// Rules for tests of the gate.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/access/access_rules.h"

namespace mpsd {

// Rules in force with the tokens "ops", "embedder" and "idle", whose texts are their names with
// "-secret" behind.
inline AccessRules TestRules(std::vector<AccessRule> rules, RoleSet open = RoleSet()) {
  AccessRules access;
  access.in_force = true;
  access.open = open;
  for (const std::string name : {"ops", "embedder", "idle"}) {
    access.tokens.push_back({name, Sha256(name + "-secret").value()});
  }
  access.rules = std::move(rules);
  return access;
}

inline AccessRule TokenRule(std::string token, RoleSet roles,
                            std::vector<std::string> models = {}) {
  return {std::move(token), "", roles, std::move(models)};
}

inline AccessRule CertificateRule(std::string name, RoleSet roles,
                                  std::vector<std::string> models = {}) {
  return {"", std::move(name), roles, std::move(models)};
}

}  // namespace mpsd
