// ReadDaemonStatus: the state of a daemon, from its HTTP route /mpsd/status.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/daemon_status.h"

namespace mpsd::client {

// Ignores unknown fields. INTERNAL if the text is no such answer. Pure, thread-safe.
absl::StatusOr<DaemonStatus> ReadDaemonStatus(absl::string_view json);

}  // namespace mpsd::client
