// AccessRules: who may do what, by the config and its token file.
#pragma once

#include <string>
#include <vector>

#include "server/access/method_access.h"
#include "server/access/row_rate.h"
#include "server/access/sha256.h"

namespace mpsd {

// The config's `access` and the token file → AccessRules → Gate::SetRules() → AccessPolicy. SIGHUP
// reads both files again, and replaces the rules whole. See docs/access.md.

// Only the digest is kept: a reader of the file cannot use it.
struct AccessToken {
  std::string name;
  Sha256Digest digest{};

  bool operator==(const AccessToken&) const = default;
};

// A caller may have several rules, and do whatever one of them allows. Here "ci" infers on any
// model, and loads and unloads "resnet" alone:
//
//   {"token": "ci", "roles": ["infer"]}
//   {"token": "ci", "roles": ["control"], "models": ["resnet"]}
struct AccessRule {
  std::string token;        // a token's name; this or the next is set
  std::string certificate;  // a name in it; "*": every verified one

  RoleSet roles;
  std::vector<std::string> models;  // empty: all
  RowRate rate;

  bool operator==(const AccessRule&) const = default;
};

struct NamedTenant {
  std::string name;
  RowRate rate;

  bool operator==(const NamedTenant&) const = default;
};

// Tenants by a header. All callers without a listed tenant are one.
struct TenantRules {
  std::string header;  // small letters; empty: each credential is a tenant
  std::vector<NamedTenant> named;
  RowRate others;

  bool operator==(const TenantRules&) const = default;
};

// The config's reader refuses more than kMaxAccessRules, kMaxAccessTokens and kMaxNamedTenants.
// Rules in force refuse all that none allows.
struct AccessRules {
  bool in_force = false;
  RoleSet open;  // roles without credentials
  std::vector<AccessToken> tokens;
  std::vector<AccessRule> rules;
  TenantRules tenants;

  bool operator==(const AccessRules&) const = default;
};

// For a control socket without rules: only its callers can change the daemon. Pure.
AccessRules ControlOnItsSocketOnly();

}  // namespace mpsd
