#include "server/control/setting_methods.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/inference.pb.h"
#include "server/control/inference_method_name.h"

namespace mpsd {
namespace {

namespace pb = inference;
using LogValue = pb::LogSettingsRequest::SettingValue;

// The switches as clients know them. Ours is one level: each switch includes the graver ones.
struct LogSwitches {
  bool info = true;
  bool warning = true;
  bool error = true;
  uint32_t verbose_level = 0;
};

LogSwitches SwitchesOf(LogLevel level) {
  LogSwitches switches;
  switches.verbose_level = level == LogLevel::kDebug ? 1 : 0;
  switches.info = level <= LogLevel::kInfo;
  switches.warning = level <= LogLevel::kWarn;
  return switches;
}

absl::StatusOr<LogLevel> LevelOf(const LogSwitches& switches) {
  const bool nested = switches.error && (switches.warning || !switches.info) &&
                      (switches.info || switches.verbose_level == 0);
  if (!nested) {
    return absl::InvalidArgumentError(
        "log settings are levels: log_error is always on, log_info needs log_warning, and "
        "log_verbose_level needs log_info");
  }
  if (switches.verbose_level > 0) return LogLevel::kDebug;
  if (switches.info) return LogLevel::kInfo;
  return switches.warning ? LogLevel::kWarn : LogLevel::kError;
}

absl::Status WrongType(absl::string_view name, absl::string_view type) {
  return absl::InvalidArgumentError(
      absl::StrCat("expect a ", type, " value for log setting '", name, "'"));
}

absl::Status ApplySwitch(const std::string& name, const LogValue& value, bool* flag) {
  if (value.parameter_choice_case() != LogValue::kBoolParam) return WrongType(name, "bool");
  *flag = value.bool_param();
  return absl::OkStatus();
}

absl::Status Apply(const std::string& name, const LogValue& value, LogSwitches* switches) {
  if (name == "log_info") return ApplySwitch(name, value, &switches->info);
  if (name == "log_warning") return ApplySwitch(name, value, &switches->warning);
  if (name == "log_error") return ApplySwitch(name, value, &switches->error);
  if (name == "log_verbose_level") {
    if (value.parameter_choice_case() != LogValue::kUint32Param) return WrongType(name, "uint32");
    switches->verbose_level = value.uint32_param();
    return absl::OkStatus();
  }
  if (name == "log_format") {
    if (value.string_param() == "default") return absl::OkStatus();
    return absl::InvalidArgumentError("log_format can only be 'default'");
  }
  if (name == "log_file") {
    return absl::UnimplementedError(
        "log file location can not be updated through network protocol");
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown log setting '", name, "'"));
}

absl::Status LogSettings(Logger* logger, const pb::LogSettingsRequest& request,
                         pb::LogSettingsResponse* response) {
  LogSwitches switches = SwitchesOf(logger->level());
  for (const auto& [name, value] : request.settings()) {
    if (absl::Status status = Apply(name, value, &switches); !status.ok()) return status;
  }
  const absl::StatusOr<LogLevel> level = LevelOf(switches);
  if (!level.ok()) return level.status();
  if (!request.settings().empty()) logger->SetLevel(*level);
  const LogSwitches now = SwitchesOf(logger->level());
  auto& settings = *response->mutable_settings();
  settings["log_file"].set_string_param("");
  settings["log_format"].set_string_param("default");
  settings["log_info"].set_bool_param(now.info);
  settings["log_warning"].set_bool_param(now.warning);
  settings["log_error"].set_bool_param(now.error);
  settings["log_verbose_level"].set_uint32_param(now.verbose_level);
  return absl::OkStatus();
}

// What clients find while nothing is traced.
constexpr struct {
  const char* name;
  const char* value;
} kTraceSettings[] = {{"trace_level", "OFF"}, {"trace_rate", "1000"}, {"trace_count", "-1"},
                      {"trace_file", ""},     {"log_frequency", "0"}, {"trace_mode", "triton"}};

// A setting may be set to what it is, or left without a value, which is the default.
absl::Status CheckTraceSetting(const std::string& name,
                               const pb::TraceSettingRequest::SettingValue& value) {
  for (const auto& setting : kTraceSettings) {
    if (name != setting.name) continue;
    const bool same =
        value.value_size() == 0 || (value.value_size() == 1 && value.value(0) == setting.value);
    if (same) return absl::OkStatus();
    if (name == "trace_file") {
      return absl::UnimplementedError(
          "trace file location can not be updated through network protocol");
    }
    return absl::UnimplementedError(absl::StrCat("this server writes no traces: '", name,
                                                 "' can only be '", setting.value,
                                                 "'; the metrics have the time of each stage"));
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown trace setting '", name, "'"));
}

absl::Status TraceSetting(const pb::TraceSettingRequest& request,
                          pb::TraceSettingResponse* response) {
  for (const auto& [name, value] : request.settings()) {
    if (absl::Status status = CheckTraceSetting(name, value); !status.ok()) return status;
  }
  for (const auto& setting : kTraceSettings) {
    (*response->mutable_settings())[setting.name].add_value(setting.value);
  }
  return absl::OkStatus();
}

}  // namespace

void AddSettingMethods(Logger* logger, MethodTable* table) {
  table->AddTyped<pb::LogSettingsRequest, pb::LogSettingsResponse>(
      InferenceMethodName("LogSettings"), MethodTable::Kind::kUnary,
      [logger](const CallerInfo&, const auto& request, auto* response) {
        return LogSettings(logger, request, response);
      });
  table->AddTyped<pb::TraceSettingRequest, pb::TraceSettingResponse>(
      InferenceMethodName("TraceSetting"), MethodTable::Kind::kUnary,
      [](const CallerInfo&, const auto& request, auto* response) {
        return TraceSetting(request, response);
      });
}

}  // namespace mpsd
