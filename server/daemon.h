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

// Serves until it is asked to end, then drains. Returns the exit code; errors were written to
// stderr, and once the models are settled a table of what is ready to stdout. Called by main, once.
int RunDaemon(const Config& config, ConfigSource source, const SignalWaiter& signals);

}  // namespace mpsd
