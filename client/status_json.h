// ReadDaemonStatus: the state of a daemon, as its HTTP route /mpsd/status answers it.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/daemon_status.h"

namespace mpsd::client {

// The same as Client::GetDaemonStatus() tells. Fields that a newer daemon has besides are ignored.
// INTERNAL where the text is no such answer. Pure, thread-safe.
absl::StatusOr<DaemonStatus> ReadDaemonStatus(absl::string_view json);

}  // namespace mpsd::client
