#include "server/config_reader.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"
#include "server/model_config_reader.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 11> kConfigKeys = {
    "listen", "server_name", "state_dir", "models", "model_repository", "model_control", "limits",
    "log",    "trace",       "sandbox",   "compat"};
// In the order of ModelControlMode.
constexpr std::array<std::string_view, 2> kControlModes = {"none", "explicit"};
constexpr std::array<std::string_view, 3> kListenKeys = {"grpc", "http", "reflection"};
constexpr std::array<std::string_view, 3> kReflections = {"local", "off", "on"};
constexpr std::array<std::string_view, 13> kLimitsKeys = {"message",
                                                          "shared_memory",
                                                          "connection_pinned",
                                                          "drain_timeout",
                                                          "lame_duck",
                                                          "streams",
                                                          "metadata",
                                                          "keepalive",
                                                          "handshake_timeout",
                                                          "connection_idle",
                                                          "connection_age",
                                                          "connections",
                                                          "client_shared_memory"};
constexpr std::array<std::string_view, 2> kCompats = {"none", "triton"};
constexpr std::array<std::string_view, 3> kLogKeys = {"level", "file", "requests"};
constexpr std::array<std::string_view, 3> kTraceKeys = {"file", "format", "rate"};
constexpr std::array<std::string_view, 2> kTraceFormats = {"lines", "otlp"};
constexpr std::array<std::string_view, 5> kLevels = {"trace", "debug", "info", "warn", "error"};

constexpr size_t kMaxAddresses = 16;
constexpr size_t kMaxModels = 256;
constexpr size_t kMaxSocketPathBytes = 107;  // sockaddr_un's, without its final zero
constexpr uint64_t kMinMessageBytes = 1 << 10;
constexpr uint64_t kMaxMessageLimitBytes = (2ULL << 30) - 1;  // gRPC counts in an int
constexpr uint64_t kMinSharedMemoryBytes = 16ULL << 20;
constexpr uint64_t kMaxConnectionPinBytes = 1ULL << 40;
constexpr uint64_t kMaxSharedMemoryBytes = 16ULL << 40;
constexpr uint32_t kMaxStreams = 65536;
constexpr uint32_t kMaxConnections = 1'000'000;
constexpr uint32_t kMaxTraceRate = 1'000'000'000;
constexpr uint64_t kMinMetadataBytes = 1 << 10;
constexpr uint64_t kMaxMetadataBytes = 1 << 20;
constexpr int64_t kMaxConnectionNs = 24 * 3600 * kNsPerSecond;
constexpr int64_t kMaxShutdownNs = 3600 * kNsPerSecond;
constexpr absl::string_view kUnix = "unix:";

std::string HostFault(absl::string_view host) {
  if (host.empty()) return "has no host; 0.0.0.0 stands for all of them";
  if (host.front() == '[') {
    in6_addr parsed{};
    const std::string inner(host.substr(1, host.size() - 2));
    if (host.back() == ']' && inet_pton(AF_INET6, inner.c_str(), &parsed) == 1) return "";
    return "has no IPv6 address in its brackets";
  }
  if (absl::StrContains(host, ':')) return "has an IPv6 address, which must stand in brackets";
  const bool plain = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '-' || c == '_';
  });
  return plain ? "" : "has a host that is neither a name nor an address";
}

std::string SocketPathFault(absl::string_view path) {
  if (path.empty()) return "has no path";
  if (path.size() <= kMaxSocketPathBytes) return "";
  return absl::StrCat("has a path of ", path.size(), " bytes; a socket's holds at most ",
                      kMaxSocketPathBytes);
}

std::string ReadAddress(const nlohmann::json& json, const std::string& path,
                        const std::string& folder, bool unix_allowed, JsonErrors* errors) {
  if (!json.is_string()) {
    errors->Add(path, WrongType("an address like '127.0.0.1:8001'", json));
    return "";
  }
  std::string address = json.get<std::string>();
  if (unix_allowed && absl::StartsWith(address, kUnix) && address.size() > kUnix.size()) {
    address = absl::StrCat(kUnix, ResolvePath(folder, address.substr(kUnix.size())));
  }
  const std::string fault = AddressFault(address, unix_allowed);
  if (!fault.empty()) errors->Add(path, absl::StrCat(JsonText(json), " ", fault));
  return address;
}

// Port 0 is any free port, so that it may be asked for twice.
bool SameAddress(const std::string& a, const std::string& b) {
  return a == b && (absl::StartsWith(a, kUnix) || !absl::EndsWith(a, ":0"));
}

void ReadListen(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                ListenConfig* listen) {
  const JsonObject object(json, "listen", kListenKeys, errors);
  std::vector<std::string> addresses;
  const auto add = [&](const nlohmann::json& element, const std::string& path) {
    std::string address = ReadAddress(element, path, folder, /*unix_allowed=*/true, errors);
    for (const std::string& other : addresses) {
      if (SameAddress(other, address)) errors->Add(path, "stands twice");
    }
    addresses.push_back(std::move(address));
  };
  object.GetList("grpc", kMaxAddresses, add);
  if (const nlohmann::json* grpc = object.Find("grpc"); grpc != nullptr) {
    if (grpc->is_array() && grpc->empty()) object.Fail("grpc", "must hold at least one address");
    listen->grpc = std::move(addresses);
  }
  size_t reflection = 0;
  object.GetChoice("reflection", kReflections, &reflection);
  listen->reflection = static_cast<Reflection>(reflection);
  const nlohmann::json* http = object.Find("http");
  if (http != nullptr && *http == "") {
    listen->http.clear();
    return;
  }
  const std::string http_path = object.PathOf("http");
  if (http != nullptr) {
    listen->http = ReadAddress(*http, http_path, folder, /*unix_allowed=*/false, errors);
  }
  for (const std::string& other : listen->grpc) {
    if (SameAddress(other, listen->http)) errors->Add(http_path, "is an address of grpc too");
  }
}

void ReadLimits(const nlohmann::json& json, JsonErrors* errors, LimitsConfig* limits) {
  const JsonObject object(json, "limits", kLimitsKeys, errors);
  object.GetBytes("message", kMinMessageBytes, kMaxMessageLimitBytes, &limits->message_bytes);
  const nlohmann::json* shared_memory = object.Find("shared_memory");
  if (shared_memory != nullptr && *shared_memory != "auto") {
    object.GetBytes("shared_memory", kMinSharedMemoryBytes, kMaxSharedMemoryBytes,
                    &limits->shared_memory_bytes);
  }
  object.GetBytes("connection_pinned", 0, kMaxConnectionPinBytes, &limits->connection_pin_bytes);
  object.GetDuration("drain_timeout", kMaxShutdownNs, &limits->drain_timeout_ns);
  object.GetDuration("lame_duck", kMaxShutdownNs, &limits->lame_duck_ns);
  object.Get("streams", 1, kMaxStreams, &limits->streams);
  object.GetBytes("metadata", kMinMetadataBytes, kMaxMetadataBytes, &limits->metadata_bytes);
  object.GetDuration("keepalive", kMaxConnectionNs, &limits->keepalive_ns);
  object.GetDuration("handshake_timeout", kMaxConnectionNs, &limits->handshake_ns);
  object.GetDuration("connection_idle", kMaxConnectionNs, &limits->connection_idle_ns);
  object.GetDuration("connection_age", kMaxConnectionNs, &limits->connection_age_ns);
  object.Get("connections", 1, kMaxConnections, &limits->connections);
  object.GetBytes("client_shared_memory", 0, kMaxSharedMemoryBytes,
                  &limits->client_shared_memory_bytes);
}

void ReadLog(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
             LogConfig* log) {
  const JsonObject object(json, "log", kLogKeys, errors);
  size_t level = 2;
  object.GetChoice("level", kLevels, &level);
  log->level = std::string(kLevels[level]);
  object.Get("file", &log->file);
  if (!log->file.empty()) log->file = ResolvePath(folder, log->file);
  object.Get("requests", &log->requests);
  if (!log->requests.empty()) log->requests = ResolvePath(folder, log->requests);
}

void ReadTrace(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
               TraceConfig* trace) {
  const JsonObject object(json, "trace", kTraceKeys, errors);
  object.Get("file", &trace->file);
  if (!trace->file.empty()) trace->file = ResolvePath(folder, trace->file);
  size_t format = 0;
  object.GetChoice("format", kTraceFormats, &format);
  trace->otlp = format == 1;
  object.Get("rate", 1, kMaxTraceRate, &trace->rate);
}

void ReadRepository(const JsonObject& object, const std::string& folder, Config* config) {
  size_t mode = 0;
  object.GetChoice("model_control", kControlModes, &mode);
  config->model_control = static_cast<ModelControlMode>(mode);
  if (object.Find("model_repository") == nullptr) return;
  object.Get("model_repository", &config->model_repository);
  if (config->model_repository.empty())
    return object.Fail("model_repository", "must name a folder");
  config->model_repository = ResolvePath(folder, config->model_repository);
  std::error_code error;
  if (std::filesystem::is_directory(config->model_repository, error)) return;
  object.Fail("model_repository",
              absl::StrCat("there is no folder '", config->model_repository, "'"));
}

void ReadModels(const JsonObject& object, const std::string& folder, Config* config) {
  const bool has_repository = object.Find("model_repository") != nullptr;
  if (!has_repository) object.Require("models");
  object.GetList("models", kMaxModels, [&](const nlohmann::json& json, const std::string& path) {
    ModelConfig model = ReadModelConfig(json, path, folder, config->limits, object.errors());
    for (const ModelConfig& other : config->models) {
      if (other.key() != model.key() || model.name.empty()) continue;
      object.errors()->Add(JsonPath(path, "name"),
                           absl::StrCat("there is another model '", model.name, "'",
                                        json.contains("version") ? " of this version" : ""));
    }
    config->models.push_back(std::move(model));
  });
  const nlohmann::json* models = object.Find("models");
  if (models != nullptr && models->is_array() && models->empty() && !has_repository) {
    object.Fail("models", "must hold at least one model");
  }
}

}  // namespace

void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config) {
  const JsonObject object(json, "", kConfigKeys, errors);
  if (const nlohmann::json* listen = object.Find("listen"); listen != nullptr) {
    ReadListen(*listen, folder, errors, &config->listen);
  }
  object.Get("server_name", &config->server_name);
  const std::string fault = ServableNameFault(config->server_name);
  if (!fault.empty()) object.Fail("server_name", fault);
  config->state_dir = DefaultStateDir();
  object.Get("state_dir", &config->state_dir);
  if (config->state_dir.empty()) object.Fail("state_dir", "must name a folder");
  config->state_dir = ResolvePath(folder, config->state_dir);
  // The models' queues are held to the limits, so these come first.
  if (const nlohmann::json* limits = object.Find("limits"); limits != nullptr) {
    ReadLimits(*limits, errors, &config->limits);
  }
  if (const nlohmann::json* log = object.Find("log"); log != nullptr) {
    ReadLog(*log, folder, errors, &config->log);
  }
  if (const nlohmann::json* trace = object.Find("trace"); trace != nullptr) {
    ReadTrace(*trace, folder, errors, &config->trace);
  }
  size_t sandbox = static_cast<size_t>(config->sandbox);
  object.GetChoice("sandbox", kSandboxLevels, &sandbox);
  config->sandbox = static_cast<SandboxLevel>(sandbox);
  size_t compat = 0;
  object.GetChoice("compat", kCompats, &compat);
  config->compat = static_cast<Compat>(compat);
  ReadRepository(object, folder, config);
  ReadModels(object, folder, config);
}

std::string ResolvePath(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string AddressFault(const std::string& address, bool unix_allowed) {
  if (absl::StartsWith(address, kUnix)) {
    if (!unix_allowed) return "must be host:port";
    return SocketPathFault(absl::string_view(address).substr(kUnix.size()));
  }
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || absl::EndsWith(address, "]")) {
    return absl::StrCat("has no port; it must be host:port, [v6]:port",
                        unix_allowed ? " or unix:path" : "");
  }
  const absl::string_view port = absl::string_view(address).substr(colon + 1);
  uint32_t number = 0;
  const bool digits = std::all_of(port.begin(), port.end(), absl::ascii_isdigit);
  if (!digits || !absl::SimpleAtoi(port, &number) || number > 65535) {
    return absl::StrCat("has the port '", port, "'; a port is a number from 0 to 65535");
  }
  return HostFault(absl::string_view(address).substr(0, colon));
}

}  // namespace mpsd
