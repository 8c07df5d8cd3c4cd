// AccessPolicy: decides who may call what.
#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/base/limits.h"
#include "server/access/access_rules.h"
#include "server/access/method_access.h"

namespace mpsd {

enum class Verdict { kAllowed, kUnauthenticated, kDenied };

// Which of the rules speak of a caller.
using RuleSet = std::bitset<kMaxAccessRules>;

// What a caller shows of himself. The views are the caller's.
struct Credentials {
  absl::string_view authorization;                        // the header's value; empty: none
  bool has_repeated_header = false;                       // several such headers are no credential
  absl::Span<const absl::string_view> certificate_names;  // of a certificate that was verified
};

// Pure and constant: thread-safe. Deny is the default: what no rule allows is refused. A call takes
// no memory from the heap. What is decided:
//   a method with a role that is open          allowed, whatever credentials there are
//   no credentials, or a token nobody has      UNAUTHENTICATED, even beside a good certificate
//   no rule of the caller's has such a role    DENIED
//   none of these rules is for the model       DENIED
class AccessPolicy {
 public:
  // REQUIRES: as many rules and tokens at most as access_rules.h says, and each rule's token there.
  explicit AccessPolicy(const AccessRules& rules);

  bool IsOpen(const MethodAccess& method) const { return open_.Meets(method.roles); }

  // Whether the caller may call the method at all; `*rules` are those that speak of him.
  Verdict Enter(const MethodAccess& method, const Credentials& credentials, RuleSet* rules) const;

  // Whether whoever has entered may do so with this model. An empty one stands for all.
  Verdict MayUse(const MethodAccess& method, const RuleSet& rules, absl::string_view model) const;

 private:
  struct Token {
    Sha256Digest digest{};
    RuleSet rules;
  };

  bool AddTokensRules(const Credentials& credentials, RuleSet* rules) const;
  bool HasRole(const MethodAccess& method, const RuleSet& rules) const;

  const RoleSet open_;
  std::vector<Token> tokens_;
  struct Rule {
    RoleSet roles;
    std::string certificate;
    absl::flat_hash_set<std::string> models;
  };
  std::vector<Rule> rules_;
};

}  // namespace mpsd
