// Daemon: builds all parts of the front end from a config, wires them, runs them, ends them.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "server/config/config.h"
#include "server/signals.h"

namespace mpsd {

// What `mpsd serve` exits with.
inline constexpr int kExitOk = 0;
inline constexpr int kExitCannotListen = 69;
inline constexpr int kExitRunsAlready = 75;
inline constexpr int kExitConfig = 78;

// Reads the config again, for a reload. Called on a thread of the daemon.
using ConfigSource = std::function<absl::StatusOr<Config>()>;

// Serves until a signal asks for the end, then drains; blocks all that time. Returns the exit code.
// Writes errors to stderr, and a table of the models to stdout once they are settled. Called by
// main, once.
int RunDaemon(const Config& config, ConfigSource source, const SignalWaiter& signals);

}  // namespace mpsd
