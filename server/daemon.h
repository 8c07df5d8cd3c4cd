// Daemon: builds the front end's parts from a config, wires them, runs them, ends them.
//
//   lock the state folder ─▶ open log and traces ─▶ CUDA service, device copier (where wanted)
//   ─▶ deploy the models ─▶ listen ─▶ start the workers ─▶ settled: table, READY to systemd
//   ─▶ serve; SIGHUP reloads ─▶ SIGTERM: drain ─▶ end the HTTP server ─▶ end the workers ─▶ exit
//
// It listens before the workers start, so that probes and `mpsd ps` can follow the models.
#pragma once

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "server/config/config.h"
#include "server/operate/handover/handover.h"
#include "server/signals.h"

namespace mpsd {

// From sysexits.h, for service managers.
inline constexpr int kExitOk = 0;             // as asked
inline constexpr int kExitCannotListen = 69;  // an address is busy or not of this host
inline constexpr int kExitRunsAlready = 75;   // another daemon holds the state folder
inline constexpr int kExitConfig = 78;        // an impossible config or command line

// Reads the config again. Called on the thread `reloader`, one call at a time. An error changes
// nothing.
using ConfigSource = std::function<absl::StatusOr<Config>()>;

// Serves until a signal asks for the end, then drains; returns the exit code. Errors go to stderr,
// a table of the settled models to stdout. A model that does not load is only not ready itself.
// Without `Config::keep_going` a LastingFault ends the start with kExitConfig. If no model fits in
// shared memory at the start, the start ends too.
//
// A drain takes at most `limits.lame_duck` and then `limits.drain_timeout`; requests still inside
// end with UNAVAILABLE. A second signal ends the wait at once. A `predecessor` learns why a start
// fails.
//
// Called once by main, while only the thread of `signals` exists. REQUIRES: `config` and `signals`
// outlive the call.
int RunDaemon(const Config& config, ConfigSource source, const SignalWaiter& signals,
              std::optional<Predecessor> predecessor);

}  // namespace mpsd
