#include "server/bodies/json/control_json.h"

#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/bodies/json/json_text.h"
#include "server/bodies/json/json_walk.h"
#include "server/bodies/json/message_json.h"

namespace mpsd {
namespace {

namespace pb = inference;

template <typename Take>
absl::Status ReadBody(absl::string_view body, Take take) {
  if (body.empty()) return absl::OkStatus();
  std::string text(body);
  text.append(kBodyPadding, '\0');
  return ReadDocument(text.data(), body.size(), text.size(), take);
}

absl::Status ReadString(ondemand::value value, absl::string_view field, std::string* text) {
  absl::string_view view;
  const absl::Status status = ReadText(value, field, &view);
  if (status.ok()) *text = std::string(view);
  return status;
}

absl::Status ReadRepositoryParameter(ondemand::value value, absl::string_view name,
                                     pb::ModelRepositoryParameter* parameter) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  if (type == ondemand::json_type::boolean) {
    bool flag = false;
    const absl::Status status = ReadFlag(value, name, &flag);
    parameter->set_bool_param(flag);
    return status;
  }
  if (type == ondemand::json_type::number) {
    int64_t number = 0;
    const absl::Status status = ReadSigned(value, name, &number);
    parameter->set_int64_param(number);
    return status;
  }
  return ReadString(value, name, parameter->mutable_string_param());
}

template <typename Request>
absl::Status ReadRepositoryBody(absl::string_view body, Request* request) {
  return ReadBody(body, [request](absl::string_view key, ondemand::value value) {
    if (key != "parameters") return SkipValue(value, 1);
    ondemand::object object;
    if (absl::Status status = ReadObject(value, key, &object); !status.ok()) return status;
    return ForEachField(object, [request](absl::string_view name, ondemand::value parameter) {
      return ReadRepositoryParameter(parameter, name,
                                     &(*request->mutable_parameters())[std::string(name)]);
    });
  });
}

// Null, a text or a list of texts.
absl::Status ReadTraceValue(ondemand::value value, absl::string_view name,
                            pb::TraceSettingRequest::SettingValue* setting) {
  if (IsNull(value)) return absl::OkStatus();
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  if (type != ondemand::json_type::array) return ReadString(value, name, setting->add_value());
  ondemand::array array;
  if (absl::Status status = ReadArray(value, name, &array); !status.ok()) return status;
  return ForEachElement(array, [&](ondemand::value element) {
    return ReadString(element, name, setting->add_value());
  });
}

absl::Status ReadLogValue(ondemand::value value, absl::string_view name,
                          pb::LogSettingsRequest::SettingValue* setting) {
  ondemand::json_type type;
  if (const auto error = value.type().get(type); error) return NotJson(error);
  if (type == ondemand::json_type::boolean) {
    bool flag = false;
    const absl::Status status = ReadFlag(value, name, &flag);
    setting->set_bool_param(flag);
    return status;
  }
  if (type != ondemand::json_type::number) {
    return ReadString(value, name, setting->mutable_string_param());
  }
  uint64_t number = 0;
  const absl::Status status = ReadUnsigned(value, name, &number);
  if (!status.ok()) return status;
  if (number > std::numeric_limits<uint32_t>::max()) {
    return Unparsable(name, "the number is larger than a uint32");
  }
  setting->set_uint32_param(static_cast<uint32_t>(number));
  return absl::OkStatus();
}

// {"b64":"…"}
absl::Status ReadHandle(ondemand::value value, std::string* handle) {
  std::string text;
  ondemand::object object;
  absl::Status status = ReadObject(value, "raw_handle", &object);
  if (status.ok()) {
    status = ForEachField(object, [&text](absl::string_view key, ondemand::value field) {
      return key == "b64" ? ReadString(field, key, &text) : SkipValue(field, 2);
    });
  }
  if (!status.ok()) return status;
  if (absl::Base64Unescape(text, handle)) return absl::OkStatus();
  return Unparsable("raw_handle", "'b64' is no base64");
}

// Clients know these words.
absl::Status NoRegionField(absl::string_view field) {
  return absl::InvalidArgumentError(
      absl::StrCat("Shared memory register request has no '", field, "' field"));
}

void PutKey(absl::string_view key, std::string* json) {
  if (json->back() != '{') json->push_back(',');
  PutJsonText(key, json);
  json->push_back(':');
}

// Sorted by key.
template <typename Map>
std::map<std::string, const typename Map::mapped_type*> Sorted(const Map& map) {
  std::map<std::string, const typename Map::mapped_type*> sorted;
  for (const auto& [key, value] : map) sorted[key] = &value;
  return sorted;
}

template <typename Response>
std::string MapAsList(const Response& response) {
  std::string json = "[";
  for (const auto& [name, region] : Sorted(response.regions())) {
    if (json.size() > 1) json.push_back(',');
    absl::StrAppend(&json, MessageJson(*region));
  }
  return json + "]";
}

// Only trace_level may have several values, so it is a list.
std::string TraceValueJson(const std::string& name,
                           const pb::TraceSettingResponse::SettingValue& setting) {
  if (name == "trace_level") {
    const std::string whole = MessageJson(setting);  // {"value":[…]}
    return whole.substr(whole.find(':') + 1, whole.size() - whole.find(':') - 2);
  }
  std::string json;
  PutJsonText(setting.value_size() == 0 ? "" : setting.value(0), &json);
  return json;
}

std::string LogValueJson(const pb::LogSettingsResponse::SettingValue& setting) {
  using Setting = pb::LogSettingsResponse::SettingValue;
  if (setting.parameter_choice_case() == Setting::kBoolParam) {
    return setting.bool_param() ? "true" : "false";
  }
  if (setting.parameter_choice_case() == Setting::kUint32Param) {
    return absl::StrCat(setting.uint32_param());
  }
  std::string json;
  PutJsonText(setting.string_param(), &json);
  return json;
}

}  // namespace

absl::Status ReadIndexBody(absl::string_view body, pb::RepositoryIndexRequest* request) {
  return ReadBody(body, [request](absl::string_view key, ondemand::value value) {
    if (key != "ready") return SkipValue(value, 1);
    bool ready = false;
    const absl::Status status = ReadFlag(value, key, &ready);
    request->set_ready(ready);
    return status;
  });
}

absl::Status ReadLoadBody(absl::string_view body, pb::RepositoryModelLoadRequest* request) {
  return ReadRepositoryBody(body, request);
}

absl::Status ReadUnloadBody(absl::string_view body, pb::RepositoryModelUnloadRequest* request) {
  return ReadRepositoryBody(body, request);
}

absl::Status ReadTraceBody(absl::string_view body, pb::TraceSettingRequest* request) {
  return ReadBody(body, [request](absl::string_view key, ondemand::value value) {
    return ReadTraceValue(value, key, &(*request->mutable_settings())[std::string(key)]);
  });
}

absl::Status ReadLogBody(absl::string_view body, pb::LogSettingsRequest* request) {
  return ReadBody(body, [request](absl::string_view key, ondemand::value value) {
    return ReadLogValue(value, key, &(*request->mutable_settings())[std::string(key)]);
  });
}

absl::Status ReadRegionBody(absl::string_view body,
                            pb::SystemSharedMemoryRegisterRequest* request) {
  bool has_key = false;
  bool has_size = false;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  const absl::Status status = ReadBody(body, [&](absl::string_view key, ondemand::value value) {
    has_key |= key == "key";
    has_size |= key == "byte_size";
    if (key == "key") return ReadString(value, key, request->mutable_key());
    if (key == "offset") return ReadUnsigned(value, key, &offset);
    return key == "byte_size" ? ReadUnsigned(value, key, &bytes) : SkipValue(value, 1);
  });
  if (!status.ok()) return status;
  request->set_offset(offset);
  request->set_byte_size(bytes);
  if (!has_key) return NoRegionField("key");
  return has_size ? absl::OkStatus() : NoRegionField("byte_size");
}

absl::Status ReadRegionBody(absl::string_view body, pb::CudaSharedMemoryRegisterRequest* request) {
  bool has_handle = false;
  bool has_size = false;
  int64_t device = 0;
  uint64_t bytes = 0;
  const absl::Status status = ReadBody(body, [&](absl::string_view key, ondemand::value value) {
    has_handle |= key == "raw_handle";
    has_size |= key == "byte_size";
    if (key == "raw_handle") return ReadHandle(value, request->mutable_raw_handle());
    if (key == "device_id") return ReadSigned(value, key, &device);
    return key == "byte_size" ? ReadUnsigned(value, key, &bytes) : SkipValue(value, 1);
  });
  if (!status.ok()) return status;
  request->set_device_id(device);
  request->set_byte_size(bytes);
  if (!has_handle) return NoRegionField("raw_handle");
  return has_size ? absl::OkStatus() : NoRegionField("byte_size");
}

std::string IndexJson(const pb::RepositoryIndexResponse& response) {
  std::string json = "[";
  for (const auto& model : response.models()) {
    if (json.size() > 1) json.push_back(',');
    absl::StrAppend(&json, MessageJson(model));
  }
  return json + "]";
}

std::string TraceJson(const pb::TraceSettingResponse& response) {
  std::string json = "{";
  for (const auto& [name, setting] : Sorted(response.settings())) {
    PutKey(name, &json);
    json += TraceValueJson(name, *setting);
  }
  return json + "}";
}

std::string LogJson(const pb::LogSettingsResponse& response) {
  std::string json = "{";
  for (const auto& [name, setting] : Sorted(response.settings())) {
    PutKey(name, &json);
    json += LogValueJson(*setting);
  }
  return json + "}";
}

std::string RegionsJson(const pb::SystemSharedMemoryStatusResponse& response) {
  return MapAsList(response);
}

std::string RegionsJson(const pb::CudaSharedMemoryStatusResponse& response) {
  return MapAsList(response);
}

}  // namespace mpsd
