// The addresses that a config may name to listen on: host:port, [v6]:port and unix:path.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd {

inline constexpr absl::string_view kUnixScheme = "unix:";

bool IsUnixAddress(absl::string_view address);

// What is wrong with an address, as the end of a sentence; empty when nothing is. unix:path is an
// address only if `unix_allowed`.
std::string AddressFault(const std::string& address, bool unix_allowed);

// False for two addresses with port 0: each of them takes a free port of its own.
bool SameAddress(const std::string& a, const std::string& b);

// True for an address that no other host can reach. A name other than localhost may stand for any
// address, so it gives false.
bool IsOnThisHostOnly(absl::string_view address);

}  // namespace mpsd
