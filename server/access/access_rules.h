// AccessRules: who may do what, as the config and its token file say.
#pragma once

#include <string>
#include <vector>

#include "server/access/method_access.h"
#include "server/access/sha256.h"

namespace mpsd {

// What an operator wrote, in the form in which the rest of access/ reads it:
//
//   the config's `access` and the token file → AccessRules → Gate::SetRules() → AccessPolicy
//
// server/config reads and checks; a SIGHUP reads both files again, and the new rules replace the
// old ones whole. docs/access.md is the operator's page.

// A token. Only its digest is kept: a reader of the file cannot use it.
struct AccessToken {
  std::string name;
  Sha256Digest digest{};

  bool operator==(const AccessToken&) const = default;
};

// Gives roles to the callers with one token or one certificate. A caller may have several rules; it
// may do whatever one of them allows. With these two the token "ci" infers on any model, and loads
// and unloads "resnet" alone:
//
//   {"token": "ci", "roles": ["infer"]}
//   {"token": "ci", "roles": ["control"], "models": ["resnet"]}
struct AccessRule {
  // Exactly one of these is set.
  std::string token;        // the name of a token
  std::string certificate;  // a name in the client's certificate; "*": every verified one

  RoleSet roles;
  std::vector<std::string> models;  // empty: all

  bool operator==(const AccessRule&) const = default;
};

// A value, with at most kMaxAccessRules rules and kMaxAccessTokens tokens: the reader of the config
// refuses more. While the rules are not in force, everything is allowed. While they are in force,
// everything that no rule allows is refused.
struct AccessRules {
  bool in_force = false;
  RoleSet open;  // the roles that need no credentials
  std::vector<AccessToken> tokens;
  std::vector<AccessRule> rules;

  bool operator==(const AccessRules&) const = default;
};

// The rules of a daemon whose config has a control socket and no rules: every role but control is
// open, so that only callers of the socket, which pass without credentials, can change the daemon.
// Pure.
AccessRules ControlOnItsSocketOnly();

}  // namespace mpsd
