// AccessRules: who may do what, by the config and its token file.
#pragma once

#include <string>
#include <vector>

#include "server/access/method_access.h"
#include "server/access/row_rate.h"
#include "server/access/sha256.h"

namespace mpsd {

// An operator's rules, in the form that the rest of access/ reads:
//
//   the config's `access` and the token file → AccessRules → Gate::SetRules() → AccessPolicy
//
// server/config reads and checks. A SIGHUP reads both files again, and the new rules replace the
// old ones whole. docs/access.md is the operator's page.

// A token. Only its digest is kept: a reader of the file cannot use it.
struct AccessToken {
  std::string name;
  Sha256Digest digest{};

  bool operator==(const AccessToken&) const = default;
};

// Gives roles to callers with one token or certificate. A caller may have several rules, and may do
// whatever one of them allows. With these two the token "ci" infers on any model, and loads and
// unloads "resnet" alone:
//
//   {"token": "ci", "roles": ["infer"]}
//   {"token": "ci", "roles": ["control"], "models": ["resnet"]}
struct AccessRule {
  // Exactly one of these is set.
  std::string token;        // a token's name
  std::string certificate;  // name in the client's certificate; "*": every verified one

  RoleSet roles;
  std::vector<std::string> models;  // empty: all
  RowRate rate;                     // rate of the credential, as a tenant's

  bool operator==(const AccessRule&) const = default;
};

struct NamedTenant {
  std::string name;
  RowRate rate;

  bool operator==(const NamedTenant&) const = default;
};

// Tenants that a header names instead of the credentials. Callers without a tenant, or with an
// unlisted one, are together one tenant: the others.
struct TenantRules {
  std::string header;  // in small letters; empty: each credential is a tenant
  std::vector<NamedTenant> named;
  RowRate others;

  bool operator==(const TenantRules&) const = default;
};

// A value, with at most kMaxAccessRules rules, kMaxAccessTokens tokens and kMaxNamedTenants named
// tenants: the config's reader refuses more. Unless the rules are in force, everything is allowed.
// If they are, everything that no rule allows is refused.
struct AccessRules {
  bool in_force = false;
  RoleSet open;  // roles without credentials
  std::vector<AccessToken> tokens;
  std::vector<AccessRule> rules;
  TenantRules tenants;

  bool operator==(const AccessRules&) const = default;
};

// The rules of a daemon whose config has a control socket but no rules: every role except control
// is open. So only callers on the socket, which need no credentials, can change the daemon. Pure.
AccessRules ControlOnItsSocketOnly();

}  // namespace mpsd
