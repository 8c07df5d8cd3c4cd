// token_verb: changes the file of tokens that the config names.
//
//   token create NAME    a new token, printed once; the file keeps its digest
//   token list           the names
//   token revoke NAME    takes it out of the file
//
// A daemon reads the file again on SIGHUP. docs/access.md is the operator's page.
#pragma once

#include <ostream>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

struct TokenOptions {
  std::string action;  // "create", "list", "revoke"
  std::string name;    // `list` has none
  std::string config;  // empty: as `mpsd serve` finds one
  std::string file;    // empty: access.tokens of the config
  bool json = false;
};

// Writes what is still to be done to `err`. INVALID_ARGUMENT for a name that is missing, cannot be,
// or stands at `list`; ALREADY_EXISTS and NOT_FOUND of the name; errors of ReadConfigPaths() and
// EditTokenFile(). Called by main.
absl::Status RunToken(const TokenOptions& options, std::ostream& out, std::ostream& err);

}  // namespace mpsd
