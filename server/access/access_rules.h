// AccessRules: who may do what, as the config and its token file say.
#pragma once

#include <string>
#include <vector>

#include "server/access/role.h"
#include "server/access/sha256.h"

namespace mpsd {

// A token as it is kept: whoever reads the file has no token.
struct AccessToken {
  std::string name;
  Sha256Digest digest{};

  bool operator==(const AccessToken&) const = default;
};

struct AccessRule {
  // One of the two is there.
  std::string token;        // a token's name
  std::string certificate;  // a name in a client's certificate; "*": any that was verified

  RoleSet roles;
  std::vector<std::string> models;  // empty: all

  bool operator==(const AccessRule&) const = default;
};

// A value. Nothing is checked while the rules are not in force; with them, what no rule allows is
// refused.
struct AccessRules {
  bool in_force = false;
  RoleSet open;  // what nobody needs credentials for
  std::vector<AccessToken> tokens;
  std::vector<AccessRule> rules;

  bool operator==(const AccessRules&) const = default;
};

// The rules of a daemon that has a control socket and no rules: everything but control is open.
AccessRules ControlOnItsSocketOnly();

}  // namespace mpsd
