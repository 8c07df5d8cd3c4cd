#include "server/control/setting_methods.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/inference.pb.h"

namespace mpsd {
namespace {

namespace pb = inference;
using LogValue = pb::LogSettingsRequest::SettingValue;

// The format's name changes no line.
struct LogChoice {
  LogSwitches switches;
  bool iso = false;
};

absl::Status WrongType(absl::string_view name, absl::string_view type) {
  return absl::InvalidArgumentError(
      absl::StrCat("expect a ", type, " value for log setting '", name, "'"));
}

absl::Status ApplySwitch(const std::string& name, const LogValue& value, bool* flag) {
  if (value.parameter_choice_case() != LogValue::kBoolParam) return WrongType(name, "bool");
  *flag = value.bool_param();
  return absl::OkStatus();
}

absl::Status Apply(const std::string& name, const LogValue& value, LogChoice* choice) {
  LogSwitches* switches = &choice->switches;
  if (name == "log_info") return ApplySwitch(name, value, &switches->info);
  if (name == "log_warning") return ApplySwitch(name, value, &switches->warning);
  if (name == "log_error") return ApplySwitch(name, value, &switches->error);
  if (name == "log_verbose_level") {
    if (value.parameter_choice_case() != LogValue::kUint32Param) return WrongType(name, "uint32");
    switches->verbose_level = value.uint32_param();
    return absl::OkStatus();
  }
  if (name == "log_format") {
    choice->iso = value.string_param() == "ISO8601";
    if (choice->iso || value.string_param() == "default") return absl::OkStatus();
    return absl::InvalidArgumentError("log_format can only be 'default' or 'ISO8601'");
  }
  if (name == "log_file") {
    return absl::UnimplementedError(
        "log file location can not be updated through network protocol");
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown log setting '", name, "'"));
}

absl::Status LogSettings(const SettingSubjects& subjects, std::atomic<bool>* iso,
                         const pb::LogSettingsRequest& request, pb::LogSettingsResponse* response) {
  LogChoice choice = {subjects.logger->switches(), *iso};
  for (const auto& [name, value] : request.settings()) {
    if (absl::Status status = Apply(name, value, &choice); !status.ok()) return status;
  }
  if (!request.settings().empty()) {
    subjects.logger->Set(choice.switches);
    *iso = choice.iso;
  }
  const LogSwitches& now = choice.switches;
  auto& settings = *response->mutable_settings();
  settings["log_file"].set_string_param(subjects.log_file);
  settings["log_format"].set_string_param(choice.iso ? "ISO8601" : "default");
  settings["log_info"].set_bool_param(now.info);
  settings["log_warning"].set_bool_param(now.warning);
  settings["log_error"].set_bool_param(now.error);
  settings["log_verbose_level"].set_uint32_param(now.verbose_level);
  return absl::OkStatus();
}

using TraceValue = pb::TraceSettingRequest::SettingValue;

// Without a value the setting gets its default.
absl::Status ReadNumber(const std::string& name, const TraceValue& value, int64_t least,
                        int64_t otherwise, int64_t* number) {
  *number = otherwise;
  if (value.value_size() == 0) return absl::OkStatus();
  constexpr int64_t kMost = 1'000'000'000;
  const bool is_number = value.value_size() == 1 && absl::SimpleAtoi(value.value(0), number);
  if (is_number && *number >= least && *number <= kMost) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("trace setting '", name, "' is a whole number from ", least, " to ", kMost));
}

absl::Status ApplyLevel(const TraceValue& value, bool otherwise, bool* on) {
  *on = otherwise;
  if (value.value_size() == 0) return absl::OkStatus();
  const std::string& level = value.value(0);
  *on = level == "TIMESTAMPS";
  if (value.value_size() == 1 && (*on || level == "OFF")) return absl::OkStatus();
  return absl::UnimplementedError("'trace_level' can only be 'OFF' or 'TIMESTAMPS'");
}

absl::string_view ModeOf(TraceFormat format) {
  return format == TraceFormat::kOtlp ? "opentelemetry" : "triton";
}

// It may be set to the value that it has.
absl::Status CheckFixed(const std::string& name, const TraceValue& value, absl::string_view fixed) {
  if (value.value_size() == 0) return absl::OkStatus();
  if (value.value_size() == 1 && value.value(0) == fixed) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("'", name, "' can only be '", fixed, "'"));
}

// `otherwise` has the values of settings that are sent without one.
absl::Status ApplyTraceSetting(const std::string& name, const TraceValue& value, TraceFormat format,
                               const TraceSettings& otherwise, TraceSettings* settings) {
  if (name == "trace_level") return ApplyLevel(value, otherwise.on, &settings->on);
  if (name == "trace_rate") {
    int64_t rate = 0;
    const absl::Status status = ReadNumber(name, value, 1, otherwise.rate, &rate);
    settings->rate = static_cast<uint32_t>(rate);
    return status;
  }
  if (name == "trace_count") return ReadNumber(name, value, -1, otherwise.count, &settings->count);
  if (name == "log_frequency") return CheckFixed(name, value, "0");
  if (name == "trace_mode") return CheckFixed(name, value, ModeOf(format));
  if (name == "trace_file") {
    if (value.value_size() == 0 || value.value(0).empty()) return absl::OkStatus();
    return absl::UnimplementedError(
        "trace file location can not be updated through network protocol");
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown trace setting '", name, "'"));
}

void TellTraceSettings(const TraceSettings& settings, const std::string& file,
                       absl::string_view mode, pb::TraceSettingResponse* response) {
  const auto tell = [response](const char* name, std::string value) {
    (*response->mutable_settings())[name].add_value(std::move(value));
  };
  tell("trace_level", settings.on ? "TIMESTAMPS" : "OFF");
  tell("trace_rate", absl::StrCat(settings.rate));
  tell("trace_count", absl::StrCat(settings.count));
  tell("trace_file", file);
  tell("log_frequency", "0");
  tell("trace_mode", std::string(mode));
}

absl::Status TraceSetting(const SettingSubjects& subjects, const pb::TraceSettingRequest& request,
                          pb::TraceSettingResponse* response) {
  TraceLog* traces = subjects.traces;
  const std::string& model = request.model_name();
  const TraceSettings otherwise = model.empty() ? traces->configured() : traces->settings("");
  TraceSettings settings = traces->settings(model);
  for (const auto& [name, value] : request.settings()) {
    const absl::Status status =
        ApplyTraceSetting(name, value, traces->format(), otherwise, &settings);
    if (!status.ok()) return status;
  }
  if (!request.settings().empty()) traces->Set(model, settings);
  TellTraceSettings(traces->settings(model), subjects.trace_file, ModeOf(traces->format()),
                    response);
  return absl::OkStatus();
}

// An empty name stands for all models together.
absl::Status CheckModel(const ModelDirectory& models, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  const std::shared_ptr<ServedModel> model = models.Find(name);
  if (model != nullptr && model->IsReady()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Request for unknown model : ", name));
}

// Without a trace file each setting may only be set to its value.
absl::Status NoTraceSetting(const pb::TraceSettingRequest& request,
                            pb::TraceSettingResponse* response) {
  TraceSettings off;
  off.on = false;
  TellTraceSettings(off, "", ModeOf(TraceFormat::kLines), response);
  for (const auto& [name, value] : request.settings()) {
    const auto known = response->settings().find(name);
    if (known == response->settings().end()) {
      return absl::InvalidArgumentError(absl::StrCat("unknown trace setting '", name, "'"));
    }
    if (value.value_size() == 0) continue;
    if (value.value_size() == 1 && value.value(0) == known->second.value(0)) continue;
    if (name == "trace_file") {
      return absl::UnimplementedError(
          "trace file location can not be updated through network protocol");
    }
    return absl::UnimplementedError(absl::StrCat("this server writes no traces: '", name,
                                                 "' can only be '", known->second.value(0),
                                                 "'; its config names no file for them"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddSettingMethods(const SettingSubjects& subjects, MethodTable* table) {
  MPSD_CHECK(subjects.models != nullptr && subjects.logger != nullptr);
  table->AddTyped<pb::LogSettingsRequest, pb::LogSettingsResponse>(
      InferenceMethodName("LogSettings"), MethodTable::Kind::kUnary,
      [subjects, iso = std::make_shared<std::atomic<bool>>(false)](
          const CallerInfo&, const auto& request, auto* response) {
        return LogSettings(subjects, iso.get(), request, response);
      });
  table->AddTyped<pb::TraceSettingRequest, pb::TraceSettingResponse>(
      InferenceMethodName("TraceSetting"), MethodTable::Kind::kUnary,
      [subjects](const CallerInfo&, const auto& request, auto* response) {
        absl::Status status = CheckModel(*subjects.models, request.model_name());
        if (!status.ok()) return status;
        return subjects.traces == nullptr ? NoTraceSetting(request, response)
                                          : TraceSetting(subjects, request, response);
      });
}

}  // namespace mpsd
