// AccessRules: who may do what, as the config and its token file say.
#pragma once

#include <string>
#include <vector>

#include "server/access/method_access.h"
#include "server/access/row_rate.h"
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
  RowRate rate;                     // of the credential, as a tenant

  bool operator==(const AccessRule&) const = default;
};

// A tenant that callers name in a header.
struct NamedTenant {
  std::string name;
  RowRate rate;

  bool operator==(const NamedTenant&) const = default;
};

// Who the tenants are, where a header says it and not the credentials. A caller who names none of
// these, or no tenant, is of the others, who are one tenant together.
struct TenantRules {
  std::string header;  // in small letters; empty: each credential is a tenant
  std::vector<NamedTenant> named;
  RowRate others;

  bool operator==(const TenantRules&) const = default;
};

// A value, with at most kMaxAccessRules rules, kMaxAccessTokens tokens and kMaxNamedTenants named
// tenants: the reader of the config refuses more. While the rules are not in force, everything is
// allowed. While they are in force, everything that no rule allows is refused.
struct AccessRules {
  bool in_force = false;
  RoleSet open;  // the roles that need no credentials
  std::vector<AccessToken> tokens;
  std::vector<AccessRule> rules;
  TenantRules tenants;

  bool operator==(const AccessRules&) const = default;
};

// The rules of a daemon whose config has a control socket and no rules: every role but control is
// open, so that only callers of the socket, which pass without credentials, can change the daemon.
// Pure.
AccessRules ControlOnItsSocketOnly();

}  // namespace mpsd
