// DaemonOptions: what each part of the daemon takes from the config.
#pragma once

#include <string>

#include "server/accept/grpc_server.h"
#include "server/config/config.h"
#include "server/control/reflection_methods.h"
#include "server/regions/device/device_copies.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Each is pure but where it says so, and is called while the daemon is built or reloaded.

// Who may call which method. A control socket exists so that control calls are made there only,
// unless the config has rules of its own.
AccessRules RulesOf(const Config& config);

ReflectionAccess ReflectionOf(const Config& config);

LogLevel LevelOf(const Config& config);

// The folder of CUDA's Multi-Process Service, which belongs to this daemon alone.
std::string CudaServiceFolder(const Config& config);

// The device copier stands beside the worker's binary. Reads this process's environment.
DeviceCopiesOptions CopiesOptions(const Config& config, const std::string& worker_binary);

// Everything of the gRPC server but its certificates and observers, which are no values. Asks the
// host for its cores.
GrpcServerOptions GrpcOptions(const Config& config);

}  // namespace mpsd
