// handover_outcome: how a daemon's last handover ended, in a file of its state folder.
//
// SIGUSR2 has no answer. So `mpsd upgrade` removes the file, sends the signal and waits for the
// file:
//
//   mpsd upgrade                  old daemon
//   Forget… ── SIGUSR2 ─────────▶ starts the new daemon, waits until it is ready or fails
//   Read… ◀── mpsd.handover ────  Write…
//
// The outcome is a status. Its text is for people:
//
//   OK                    the new daemon serves
//   ABORTED               not now: the handover before this one has not ended
//   INVALID_ARGUMENT      the config is wrong
//   FAILED_PRECONDITION   two daemons cannot run beside each other: a restart is needed
//   RESOURCE_EXHAUSTED    likewise, for lack of memory
//   others                the new daemon was not ready, or ended
//
// Each function may be called on any thread.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace mpsd {

// Replaces the file as a whole. An error says what failed.
absl::Status WriteHandoverOutcome(const std::string& state_dir, const absl::Status& outcome);

// Nothing if there is no file, or if it is no outcome.
std::optional<absl::Status> ReadHandoverOutcome(const std::string& state_dir);

void ForgetHandoverOutcome(const std::string& state_dir);

}  // namespace mpsd
