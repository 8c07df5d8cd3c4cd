// ConfigWarnings: risks of a valid config that an operator should know.
#pragma once

#include <string>
#include <vector>

#include "server/config/config.h"

namespace mpsd {

// A sentence for each of these; the page at "/" shows them:
//
//   sandbox "off", of the daemon or of models   a model's code may do what the daemon's user may
//   listen.plaintext without access             whoever reaches the address may call
//   listen.plaintext with access                tokens cross the network in the clear
//   access.rules[].rate beside access.tenants   counts for nothing: the tenants' own rates do
//   listen.cors "*" without access              every site's page may call from a browser here
//   max_request_rows beyond limits.message      no request of so many rows is sent or answered
//
// Pure.
std::vector<std::string> ConfigWarnings(const Config& config);

}  // namespace mpsd
