// DaemonOptions: each part's options, from the config: no part knows Config.
#pragma once

#include <string>

#include "server/config/config.h"
#include "server/control/reflection_methods.h"
#include "server/http/http_options.h"
#include "server/regions/device/device_copies.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Pure unless they say otherwise. A reload calls RulesOf() and LevelOf() again: only these take
// effect without a restart.

// For Gate::SetRules(). Without rules control calls need a control socket.
AccessRules RulesOf(const Config& config);

ReflectionAccess ReflectionOf(const Config& config);

// A client that may control the daemon can change it until the next reload.
LogLevel LevelOf(const Config& config);

// For this daemon alone: another one has another state folder, and so its own service.
std::string CudaServiceFolder(const Config& config);

// The copier's binary lies beside the worker's. Reads this process's environment; the copier gets
// a part.
DeviceCopiesOptions CopiesOptions(const Config& config, const std::string& worker_binary);

enum DoorGroup : size_t { kHttpGroup, kGrpcGroup, kControlGroup, kDoorGroups };

// Without certificates. One thread for four cores, 1 to 8 in all. Asks the host for its cores.
HttpServerOptions HttpOptions(const Config& config, const LimitsConfig& limits);

}  // namespace mpsd
