// ControlJson: bodies of methods other than inference, as Triton's HTTP clients have them.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

// The method of the same name in server/control answers, on the same messages. The transport sets
// the fields from the URL. Only types are checked here.
//
//   method                 request's body                              response's body
//   ServerMetadata         none                                        MessageJson()
//   ModelMetadata          none                                        MessageJson()
//   ModelStatistics        none                                        MessageJson()
//
//   ModelConfig            none                                        MessageJson(config())
//   RepositoryIndex        {"ready":true}                              [{"name","version",…}]
//   RepositoryModelLoad    {"parameters":{"config":"{…}"}}             none
//   RepositoryModelUnload  {"parameters":{"unload_dependents":true}}   none
//
//   TraceSetting           {"trace_level":["OFF"],"trace_rate":null}   all settings, likewise
//   LogSettings            {"log_info":false,"log_verbose_level":1}    all settings, likewise
//
//   System…Register        {"key","offset","byte_size"}                none
//   Cuda…Register          {"raw_handle":{"b64"},"device_id",…}        none
//   System…, Cuda…Status   none                                        [{"name",…}]

// INVALID_ARGUMENT if the body is no JSON object or a field has a wrong type. An empty body reads
// as {}. Unknown fields are checked and ignored; the method refuses an unknown setting. Bodies have
// at most MethodTask::kMaxRequestBytes, and are copied once. After an error `request` has some of
// the fields. Thread-safe.
absl::Status ReadIndexBody(absl::string_view body, inference::RepositoryIndexRequest* request);
absl::Status ReadLoadBody(absl::string_view body, inference::RepositoryModelLoadRequest* request);
absl::Status ReadUnloadBody(absl::string_view body,
                            inference::RepositoryModelUnloadRequest* request);
absl::Status ReadTraceBody(absl::string_view body, inference::TraceSettingRequest* request);
absl::Status ReadLogBody(absl::string_view body, inference::LogSettingsRequest* request);

// INVALID_ARGUMENT names a missing "key", "raw_handle" or "byte_size", in Triton's words. "offset"
// and "device_id" default to 0.
absl::Status ReadRegionBody(absl::string_view body,
                            inference::SystemSharedMemoryRegisterRequest* request);
absl::Status ReadRegionBody(absl::string_view body,
                            inference::CudaSharedMemoryRegisterRequest* request);

// `response` is the daemon's own, so these do not fail. Settings and regions are sorted by name,
// models as in the response. Thread-safe.
std::string IndexJson(const inference::RepositoryIndexResponse& response);
std::string TraceJson(const inference::TraceSettingResponse& response);
std::string LogJson(const inference::LogSettingsResponse& response);
std::string RegionsJson(const inference::SystemSharedMemoryStatusResponse& response);
std::string RegionsJson(const inference::CudaSharedMemoryStatusResponse& response);

}  // namespace mpsd
