#include "server/daemon_options.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "proto/base/platform.h"
#include "server/supervise/process/child_environment.h"

namespace mpsd {

namespace {

// One thread carries tens of thousands of calls a second (load_tests/README.md). One without a
// connection is not started. A sanitizer's build has several on any host, so that they meet in
// tests.
uint32_t DoorThreads() {
#ifdef MPSD_DOOR_THREADS
  return MPSD_DOOR_THREADS;
#else
  constexpr uint32_t kPlenty = 8;
  const uint32_t cores = platform::UsableCores();
  return cores < kPlenty ? 1 : std::min(cores / 2, 16U);
#endif
}

// 0 means no bound.
int64_t OrForever(int64_t time_ns) { return time_ns == 0 ? INT64_MAX : time_ns; }

}  // namespace

ReflectionAccess ReflectionOf(const Config& config) {
  switch (config.listen.reflection) {
    case Reflection::kOff:
      return ReflectionAccess::kOff;
    case Reflection::kOn:
      return ReflectionAccess::kOn;
    case Reflection::kLocal:
      break;
  }
  return ReflectionAccess::kLocal;
}

AccessRules RulesOf(const Config& config) {
  const bool is_limited = !config.access.in_force && !config.listen.control.empty();
  return is_limited ? ControlOnItsSocketOnly() : config.access;
}

LogLevel LevelOf(const Config& config) {
  return ParseLogLevel(config.log.level).value_or(LogLevel::kInfo);
}

std::string CudaServiceFolder(const Config& config) { return config.state_dir + "/cuda-mps"; }

// The copier must not use mpsd's CUDA service: the clients whose memory it opens do not.
DeviceCopiesOptions CopiesOptions(const Config& config, const std::string& worker_binary) {
  DeviceCopiesOptions options;
  options.process.binary =
      (std::filesystem::path(worker_binary).parent_path() / "mpsd-device-copier").string();
  std::vector<absl::string_view> left_out = {"NOTIFY_SOCKET="};
  if (config.cuda_mps) left_out.push_back("CUDA_MPS_");
  options.process.environment = EnvironmentWithout(left_out);
  options.sandbox = config.sandbox;
  return options;
}

namespace {

// Addresses without TLS come first.
HttpGroup GroupAt(const std::vector<std::string>& plain, const char* plain_key,
                  const std::vector<std::string>& tls, const char* tls_key) {
  HttpGroup group;
  for (const std::string& address : plain) {
    group.addresses.push_back({address, plain_key, HttpAddress::Kind::kPlain});
  }
  for (const std::string& address : tls) {
    group.addresses.push_back({address, tls_key, HttpAddress::Kind::kTls});
  }
  return group;
}

HttpGroup HttpGroupOf(const ListenConfig& listen, const LimitsConfig& limits) {
  HttpGroup group = GroupAt(listen.http, "listen.http", listen.tls.http, "listen.tls.http");
  // Probes and Prometheus at the last address do not wait for bodies of the others.
  if (listen.http.size() > 1) group.addresses[listen.http.size() - 1].has_own_thread = true;
  group.connections = limits.http_connections;
  group.idle_ns = OrForever(limits.http_idle_ns);
  if (limits.http_requests > 0) group.connection_requests = limits.http_requests;
  return group;
}

HttpGroup GrpcGroupOf(const ListenConfig& listen, const LimitsConfig& limits) {
  HttpGroup group = GroupAt(listen.grpc, "listen.grpc", listen.tls.grpc, "listen.tls.grpc");
  group.connections = limits.connections;
  group.idle_ns = OrForever(limits.connection_idle_ns);
  return group;
}

HttpGroup ControlGroupOf(const ListenConfig& listen, const LimitsConfig& limits) {
  HttpGroup group;
  if (!listen.control.empty()) {
    group.addresses.push_back({listen.control, "listen.control", HttpAddress::Kind::kControl});
  }
  group.connections = limits.connections;
  group.idle_ns = OrForever(limits.connection_idle_ns);
  return group;
}

}  // namespace

HttpServerOptions HttpOptions(const Config& config, const LimitsConfig& limits) {
  HttpServerOptions options;
  options.groups.resize(kDoorGroups);
  options.groups[kHttpGroup] = HttpGroupOf(config.listen, limits);
  options.groups[kGrpcGroup] = GrpcGroupOf(config.listen, limits);
  options.groups[kControlGroup] = ControlGroupOf(config.listen, limits);
  options.client_must_show_certificate = config.listen.tls.client_must_show_certificate;
  options.threads = DoorThreads();
  options.streams = limits.streams;
  options.resets = limits.resets;
  options.head_bytes = limits.metadata_bytes;
  options.message_bytes = limits.message_bytes;
  options.buffered_bytes = limits.buffered_bytes;
  options.handshake_ns = OrForever(limits.handshake_ns);
  options.head_ns = OrForever(limits.http_head_ns);
  options.body_ns = OrForever(limits.http_body_ns);
  options.answer_ns = OrForever(limits.http_answer_ns);
  options.keepalive_ns = limits.keepalive_ns;
  options.age_ns = OrForever(limits.connection_age_ns);
  return options;
}

}  // namespace mpsd
