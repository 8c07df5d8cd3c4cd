#include "server/config/config_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/limits.h"
#include "server/config/config_values.h"
#include "server/config/limit_keys.h"
#include "server/request/device_list.h"

namespace mpsd {
namespace {

constexpr std::array<std::string_view, 20> kConfigKeys = {
    "listen",          "server_name", "server_version",
    "state_dir",       "models",      "model_repository",
    "model_control",   "limits",      "log",
    "trace",           "sandbox",     "cuda_mps",
    "compat",          "access",      "readiness",
    "mps_fallback",    "keep_awake",  "resources",
    "memory_pressure", "device_share"};
// As ModelControlMode.
constexpr std::array<std::string_view, 2> kControlModes = {"none", "explicit"};
constexpr std::array<std::string_view, 2> kReadinessRules = {"strict", "any"};
constexpr std::array<std::string_view, 2> kOffOn = {"off", "on"};
constexpr std::array<std::string_view, 2> kCompats = {"none", "triton"};
constexpr std::array<std::string_view, 3> kLogKeys = {"level", "file", "requests"};
constexpr std::array<std::string_view, 5> kTraceKeys = {"file", "format", "collector", "rate",
                                                        "metrics_interval"};
constexpr std::array<std::string_view, 2> kTraceFormats = {"lines", "otlp"};
constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};

constexpr uint32_t kMaxTraceRate = 1'000'000'000;
constexpr int64_t kMaxMetricsIntervalNs = 3600 * kNsPerSecond;
constexpr uint64_t kBufferedMessages = 2;  // messages of the largest size

std::vector<std::string_view> LimitNames() {
  std::vector<std::string_view> keys;
  for (const LimitKey& limit : LimitKeys()) keys.push_back(limit.key);
  return keys;
}

bool IsAuto(const JsonObject& object, std::string_view key) {
  const nlohmann::json* value = object.Find(key);
  return value == nullptr || *value == "auto";
}

// The limit on messages is the first row, so it has been read.
void ReadBufferSize(const JsonObject& object, const LimitKey& limit, LimitsConfig* limits,
                    uint64_t* value) {
  *value = std::max(*value, kBufferedMessages * limits->message_bytes);
  if (IsAuto(object, limit.key)) return;
  object.GetBytes(limit.key, limits->message_bytes, limit.maximum, value);
}

// Reads a member by its kind.
struct MemberReader {
  const JsonObject& object;
  const LimitKey& limit;
  LimitsConfig* limits;

  void operator()(bool LimitsConfig::*member) const { object.Get(limit.key, &(limits->*member)); }
  void operator()(uint32_t LimitsConfig::*member) const {
    object.Get(limit.key, limit.minimum, limit.maximum, &(limits->*member));
  }
  void operator()(int64_t LimitsConfig::*member) const {
    object.GetDuration(limit.key, static_cast<int64_t>(limit.maximum), &(limits->*member));
  }
  void operator()(uint64_t LimitsConfig::*member) const {
    uint64_t* value = &(limits->*member);
    if (limit.kind == LimitKind::kBufferSize) return ReadBufferSize(object, limit, limits, value);
    if (limit.kind == LimitKind::kSizeOrAuto && IsAuto(object, limit.key)) return;
    object.GetBytes(limit.key, limit.minimum, limit.maximum, value);
  }
};

void ReadLimitsConfig(const nlohmann::json& json, JsonErrors* errors, LimitsConfig* limits) {
  const std::vector<std::string_view> keys = LimitNames();
  const JsonObject object(json, "limits", keys, errors);
  for (const LimitKey& limit : LimitKeys()) {
    std::visit(MemberReader{object, limit, limits}, limit.member);
  }
}

void ReadLog(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
             LogConfig* log) {
  const JsonObject object(json, "log", kLogKeys, errors);
  auto level =
      static_cast<size_t>(std::find(kLevels.begin(), kLevels.end(), log->level) - kLevels.begin());
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
  object.Get("collector", &trace->collector);
  const std::string fault = trace->collector.empty() ? "" : CollectorFault(trace->collector);
  if (!fault.empty()) object.Fail("collector", fault);
  object.Get("rate", 1, kMaxTraceRate, &trace->rate);
  object.GetDuration("metrics_interval", kMaxMetricsIntervalNs, &trace->metrics_interval_ns);
  if (trace->metrics_interval_ns == 0) return;
  if (trace->metrics_interval_ns < kNsPerSecond) {
    object.Fail("metrics_interval", "must be a second at least");
  } else if (trace->collector.empty()) {
    object.Fail("metrics_interval", "needs a collector");
  }
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
  const std::string fault = RepositoryFault(config->model_repository);
  if (!fault.empty()) object.Fail("model_repository", fault);
}

void ReadStateDir(const JsonObject& object, const std::string& folder, std::string* state_dir) {
  *state_dir = DefaultStateDir();
  object.Get("state_dir", state_dir);
  if (state_dir->empty()) object.Fail("state_dir", "must name a folder");
  *state_dir = ResolvePath(folder, *state_dir);
}

void ReadServableName(const JsonObject& object, std::string_view key, std::string* name) {
  object.Get(key, name);
  const std::string fault = ServableNameFault(*name);
  if (!fault.empty()) object.Fail(key, fault);
}

// Other addresses are checked when they are read.
void CheckDefaultSocket(const JsonObject& object, const Config& config) {
  if (config.listen.grpc != DefaultGrpcAddresses(config.state_dir)) return;
  const std::string fault = AddressFault(config.listen.grpc.back(), /*unix_allowed=*/true);
  if (fault.empty()) return;
  object.Fail("state_dir", absl::StrCat("'", config.listen.grpc.back(), "' ", fault,
                                        "; listen.grpc may name another"));
}

void ReadLimit(const std::string& name, const nlohmann::json& value, const std::string& path,
               uint32_t maximum, std::map<std::string, uint32_t>* limits, JsonErrors* errors) {
  const uint64_t count = value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  if (count < 1 || count > maximum) {
    return errors->Add(path, absl::StrCat("must be a whole number from 1 to ", maximum, ", not ",
                                          JsonText(value)));
  }
  (*limits)[name] = static_cast<uint32_t>(count);
}

void ReadResources(const JsonObject& object, ResourceLimits* resources) {
  object.GetMembers(
      "resources", kMaxResourceLimits,
      [&](const std::string& name, const nlohmann::json& value, const std::string& path) {
        const std::string fault = ServableNameFault(name);
        if (!fault.empty()) object.errors()->Add(path, absl::StrCat("as a name it ", fault));
        ReadLimit(name, value, path, kMaxResourceCount, resources, object.errors());
      });
}

void ReadDeviceShare(const JsonObject& object, DeviceLimits* devices) {
  object.GetMembers(
      "device_share", kMaxDeviceLimits,
      [&](const std::string& name, const nlohmann::json& value, const std::string& path) {
        if (!IsOneDevice(name)) object.errors()->Add(path, "names no device, as cpu or cuda:0 do");
        ReadLimit(OneNameOf(name), value, path, kMaxDeviceBatches, devices, object.errors());
      });
}

// It would never run.
void CheckNeeds(const ModelConfig& model, const std::string& path, const ResourceLimits& resources,
                JsonErrors* errors) {
  for (const ResourceNeed& need : model.lane_needs.resources) {
    const auto limit = resources.find(need.name);
    if (limit == resources.end() || limit->second >= need.count) continue;
    errors->Add(JsonPath(path, "rate_limiter"),
                absl::StrCat("needs ", need.count, " of '", need.name,
                             "', of which 'resources' has ", limit->second));
  }
}

// Two versions of a model conflict too: a request names neither.
void CheckDefaultFor(const ModelConfig& model, const std::string& path,
                     const std::vector<ModelConfig>& others, JsonErrors* errors) {
  for (const ModelConfig& other : others) {
    for (const ModelTask task : model.default_for) {
      const auto& taken = other.default_for;
      const bool is_taken = std::find(taken.begin(), taken.end(), task) != taken.end();
      if (!is_taken || other.name == model.name) continue;
      errors->Add(JsonPath(path, "default_for"),
                  absl::StrCat("model '", other.name, "' is that for '", NameOf(task), "'"));
    }
  }
}

void ReadModels(const JsonObject& object, const std::string& folder, Config* config) {
  const bool has_repository = object.Find("model_repository") != nullptr;
  if (!has_repository) object.Require("models");
  object.GetList("models", kMaxModels, [&](const nlohmann::json& json, const std::string& path) {
    ModelConfig model = ReadModelConfig(json, path, folder, config->limits, object.errors());
    CheckNeeds(model, path, config->resources, object.errors());
    CheckDefaultFor(model, path, config->models, object.errors());
    for (const ModelConfig& other : config->models) {
      if (other.key() != model.key() || model.name.empty()) continue;
      object.errors()->Add(JsonPath(path, "name"),
                           absl::StrCat("there is another model '", model.name, "'",
                                        json.contains("version") ? " of this version" : ""));
    }
    config->models.push_back(std::move(model));
  });
  if (object.errors()->empty()) CheckSteps(config->models, has_repository, object.errors());
}

}  // namespace

void ReadConfigDocument(const nlohmann::json& json, const std::string& folder, JsonErrors* errors,
                        Config* config) {
  const std::vector<std::string_view> limits = LimitNames();
  const std::array<JsonObject::Inner, 5> objects = {{{"listen", ListenKeys()},
                                                     {"limits", limits},
                                                     {"log", kLogKeys},
                                                     {"access", AccessKeys()},
                                                     {"trace", kTraceKeys}}};
  const JsonObject object(json, "", kConfigKeys, errors, objects);
  ReadStateDir(object, folder, &config->state_dir);
  config->listen.grpc = DefaultGrpcAddresses(config->state_dir);
  if (const nlohmann::json* listen = object.Find("listen"); listen != nullptr) {
    ReadListenConfig(*listen, folder, errors, &config->listen);
  }
  if (const nlohmann::json* access = object.Find("access"); access != nullptr) {
    ReadAccessConfig(*access, folder, errors, &config->access);
  }
  CheckDefaultSocket(object, *config);
  CheckWhoGetsIn(*config, errors);
  ReadServableName(object, "server_name", &config->server_name);
  ReadServableName(object, "server_version", &config->server_version);
  // The models' queues must fit the limits.
  if (const nlohmann::json* found = object.Find("limits"); found != nullptr) {
    ReadLimitsConfig(*found, errors, &config->limits);
  }
  if (const nlohmann::json* log = object.Find("log"); log != nullptr) {
    ReadLog(*log, folder, errors, &config->log);
  }
  if (const nlohmann::json* trace = object.Find("trace"); trace != nullptr) {
    ReadTrace(*trace, folder, errors, &config->trace);
  }
  object.GetChoice("sandbox", &config->sandbox);
  size_t cuda_mps = 0;
  object.GetChoice("cuda_mps", kOffOn, &cuda_mps);
  config->cuda_mps = cuda_mps == 1;
  size_t mps_fallback = 0;
  object.GetChoice("mps_fallback", kOffOn, &mps_fallback);
  config->mps_fallback = mps_fallback == 1;
  size_t memory_pressure = 1;
  object.GetChoice("memory_pressure", kOffOn, &memory_pressure);
  config->memory_pressure = memory_pressure == 1;
  size_t keep_awake = 1;
  object.GetChoice("keep_awake", kOffOn, &keep_awake);
  config->keep_awake = keep_awake == 1;
  size_t compat = 0;
  object.GetChoice("compat", kCompats, &compat);
  config->compat = static_cast<Compat>(compat);
  if (config->compat == Compat::kTriton && object.Find("server_name") == nullptr) {
    config->server_name = "triton";
  }
  size_t readiness = 0;
  object.GetChoice("readiness", kReadinessRules, &readiness);
  config->strict_readiness = readiness == 0;
  ReadRepository(object, folder, config);
  ReadResources(object, &config->resources);
  ReadDeviceShare(object, &config->device_share);
  ReadModels(object, folder, config);
}

}  // namespace mpsd
