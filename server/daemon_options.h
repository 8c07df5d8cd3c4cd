// DaemonOptions: what each part of the daemon takes from the config.
//
// The parts know no Config: each has options, or takes values, of its own, so that it can be built
// in a test without a document and reads as what it needs. The translations stand here, apart from
// daemon.cc, which only wires. A value that a part takes as it stands in the config, such as a
// path, has no function.
#pragma once

#include <string>

#include "server/accept/grpc_server.h"
#include "server/config/config.h"
#include "server/control/reflection_methods.h"
#include "server/http/http_options.h"
#include "server/regions/device/device_copies.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Each is pure but where it says so. Main calls them while the daemon is built, and the thread
// `reloader` calls RulesOf() and LevelOf() once more at each reload: only these take effect without
// a restart.

// The roles that each method needs, for Gate::SetRules(). A control socket exists so that control
// calls are made there only, unless the config has rules of its own.
AccessRules RulesOf(const Config& config);

// The clients that may read the descriptors of the services.
ReflectionAccess ReflectionOf(const Config& config);

// The level of the daemon's log. A client that may control the daemon can change it until the next
// reload.
LogLevel LevelOf(const Config& config);

// The folder of CUDA's Multi-Process Service, which belongs to this daemon alone: another daemon on
// the host has another state folder, and so a service of its own.
std::string CudaServiceFolder(const Config& config);

// The process that copies memory of CUDA devices. Its binary stands beside the worker's. Its
// environment is this process's, without what it must not have. Reads that environment.
DeviceCopiesOptions CopiesOptions(const Config& config, const std::string& worker_binary);

// Everything of the gRPC server but its certificates and observers, which are no values. One queue
// thread for four cores, 1 to 8 of them. Asks the host for its cores.
GrpcServerOptions GrpcOptions(const Config& config, const LimitsConfig& limits);

// Everything of the HTTP server but its certificates. As many threads as gRPC has.
HttpServerOptions HttpOptions(const Config& config, const LimitsConfig& limits);

}  // namespace mpsd
