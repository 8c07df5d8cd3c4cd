// Daemon: builds the front end's parts from a config, wires them, runs them, ends them.
//
// No part is global or registers itself: daemon.cc has one class whose members are the parts, in
// the order in which they are made. Only that file knows all of them, and shows which part owns or
// knows which.
//
//   lock the state folder ─▶ open log and traces ─▶ CUDA service, device copier (where wanted)
//   ─▶ deploy the models ─▶ listen ─▶ start the workers ─▶ settled: table, READY to systemd
//   ─▶ serve; SIGHUP reloads ─▶ SIGTERM: drain ─▶ end the HTTP server ─▶ end the workers ─▶ exit
//
// It listens before the workers start: probes and `mpsd ps` can follow the models, and a request
// for a model that is not ready gets UNAVAILABLE.
#pragma once

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "server/config/config.h"
#include "server/operate/handover/handover.h"
#include "server/signals.h"

namespace mpsd {

// Exit codes of `mpsd serve`, from sysexits.h, which service managers know.
inline constexpr int kExitOk = 0;             // ended as asked
inline constexpr int kExitCannotListen = 69;  // an address is busy or not of this host
inline constexpr int kExitRunsAlready = 75;   // another daemon holds the state folder
inline constexpr int kExitConfig = 78;        // an impossible config or command line

// Reads the config again for a reload. Called on the thread `reloader`, one call at a time; may
// wait for the file system. An error changes nothing.
using ConfigSource = std::function<absl::StatusOr<Config>()>;

// Serves until a signal asks for the end, then drains; blocks all that time. Returns the exit code.
// Writes errors to stderr, and a table of the models to stdout once they are settled. A model that
// does not load is only not ready itself. Without `Config::keep_going`, a model that can never
// serve (LastingFault) ends the start with kExitConfig. Models that do not fit in shared memory at
// the start always do so.
//
// A drain takes at most `limits.lame_duck` and then `limits.drain_timeout`, for the requests inside
// and for connections that clients keep open. Requests still inside then end with UNAVAILABLE. A
// second signal ends the wait at once.
//
// With a `predecessor` it takes over from another daemon, which learns why a start fails.
//
// Called once by main, while only the thread of `signals` exists. REQUIRES: `config` and `signals`
// outlive the call.
int RunDaemon(const Config& config, ConfigSource source, const SignalWaiter& signals,
              std::optional<Predecessor> predecessor);

}  // namespace mpsd
