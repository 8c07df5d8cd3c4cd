// handover_outcome: how a daemon's last handover ended.
//
// SIGUSR2 has no answer, so a file of the state folder has it:
//
//   mpsd upgrade                  old daemon
//   Forget… ── SIGUSR2 ─────────▶ starts the new daemon, waits until it is ready or fails
//   Read… ◀── mpsd.handover ────  Write…
//
// It is a status; its text is for people:
//
//   OK                    the new daemon serves
//   ABORTED               not now: the handover before this one has not ended
//   INVALID_ARGUMENT      the config is wrong
//   FAILED_PRECONDITION   two daemons cannot run beside each other: a restart is needed
//   RESOURCE_EXHAUSTED    likewise, for lack of memory
//   others                the new daemon was not ready, or ended
//
// Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Replaces the whole file. An error says what failed.
absl::Status WriteHandoverOutcome(const std::string& state_dir, const absl::Status& outcome);

// Nothing if there is no file, or no outcome in it.
std::optional<absl::Status> ReadHandoverOutcome(const std::string& state_dir);

void ForgetHandoverOutcome(const std::string& state_dir);

}  // namespace mpsd
