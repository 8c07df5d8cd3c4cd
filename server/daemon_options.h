// DaemonOptions: each part's options, from the config.
//
// The parts know no Config: each has its own options or takes values, so that a test can build it
// without a document. The translations stand here, apart from daemon.cc, which only wires. A value
// that a part takes unchanged, such as a path, has no function.
#pragma once

#include <string>

#include "server/config/config.h"
#include "server/control/reflection_methods.h"
#include "server/http/http_options.h"
#include "server/regions/device/device_copies.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Pure unless they say otherwise. main calls them while it builds the daemon. At each reload the
// thread `reloader` calls RulesOf() and LevelOf() again: only these take effect without a restart.

// The roles that each method needs, for Gate::SetRules(). Without rules in the config, control
// calls are only possible on a control socket, if there is one.
AccessRules RulesOf(const Config& config);

// Clients that may read the descriptors of the services.
ReflectionAccess ReflectionOf(const Config& config);

// The level of the daemon's log. A client that may control the daemon can change it until the next
// reload.
LogLevel LevelOf(const Config& config);

// The folder of CUDA's Multi-Process Service for this daemon alone: another daemon on the host has
// another state folder, and so its own service.
std::string CudaServiceFolder(const Config& config);

// The process that copies memory of CUDA devices. Its binary lies beside the worker's. Its
// environment is this process's, without variables that it must not have. Reads that environment.
DeviceCopiesOptions CopiesOptions(const Config& config, const std::string& worker_binary);

// The groups of addresses of the HTTP server.
enum DoorGroup : size_t { kHttpGroup, kGrpcGroup, kControlGroup, kDoorGroups };

// Options of the HTTP server except certificates. One thread for four cores, 1 to 8 in all. Asks
// the host for its cores.
HttpServerOptions HttpOptions(const Config& config, const LimitsConfig& limits);

}  // namespace mpsd
