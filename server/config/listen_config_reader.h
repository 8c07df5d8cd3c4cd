// Reads where a config document says that the daemon is reached.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "proto/link/json_object.h"
#include "server/config/config.h"

namespace mpsd {

// Thread-compatible. `folder` is where relative paths start from. Reports every mistake to
// `errors`; `listen` is whole only when there was none.
void ReadListenConfig(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                      ListenConfig* listen);

// What is wrong with an address to listen on; empty when nothing is. The three forms are host:port,
// [v6]:port and unix:path; the last one only where `unix_allowed`.
std::string AddressFault(const std::string& address, bool unix_allowed);

// True for an address that nobody on another host can reach. A name other than localhost may stand
// for anything.
bool IsOnThisHostOnly(absl::string_view address);

}  // namespace mpsd
