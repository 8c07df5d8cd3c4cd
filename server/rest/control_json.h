// ControlJson: the bodies of the methods that do not infer, as Triton's HTTP clients write and read
// them.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/inference.pb.h"

namespace mpsd {

// A method over HTTP is the method of the same name in server/control, on the same messages: the
// transport reads a request's body with one of the functions below, sets what stands in the URL
// (the names of models and regions), runs the method, and writes its response. What a field means,
// and which values are refused, the method says: here only types are checked.
//
//   method                 request's body                              response's body
//   ServerMetadata         none                                        MessageJson()
//   ModelMetadata          none                                        MessageJson()
//   ModelStatistics        none                                        MessageJson()
//   ModelConfig            none                                        MessageJson(config())
//   RepositoryIndex        {"ready":true}                              [{"name","version",…}]
//   RepositoryModelLoad    {"parameters":{"config":"{…}"}}             none
//   RepositoryModelUnload  {"parameters":{"unload_dependents":true}}   none
//   TraceSetting           {"trace_level":["OFF"],"trace_rate":null}   all settings, likewise
//   LogSettings            {"log_info":false,"log_verbose_level":1}    all settings, likewise
//   System…Register        {"key","offset","byte_size"}                none
//   Cuda…Register          {"raw_handle":{"b64"},"device_id",…}        none
//   System…, Cuda…Status   none                                        [{"name",…}]

// Each returns INVALID_ARGUMENT when the body is no JSON object or a field has a wrong type. An
// empty body reads as {}. Fields that nobody knows are checked and ignored, but all fields of
// settings are settings: the method refuses one that it does not know. Bodies are what clients
// sent, of at most MethodTask::kMaxRequestBytes; json_walk.h bounds their depth and fields. Each
// copies the body once, and leaves a part of the fields in `request` after an error. Thread-safe.
absl::Status ReadIndexBody(absl::string_view body, inference::RepositoryIndexRequest* request);
absl::Status ReadLoadBody(absl::string_view body, inference::RepositoryModelLoadRequest* request);
absl::Status ReadUnloadBody(absl::string_view body,
                            inference::RepositoryModelUnloadRequest* request);
absl::Status ReadTraceBody(absl::string_view body, inference::TraceSettingRequest* request);
absl::Status ReadLogBody(absl::string_view body, inference::LogSettingsRequest* request);

// "key" or "raw_handle", and "byte_size", must be there: INVALID_ARGUMENT names the one that is
// not, in the words of Triton. "offset" and "device_id" are 0 where they are not.
absl::Status ReadRegionBody(absl::string_view body,
                            inference::SystemSharedMemoryRegisterRequest* request);
absl::Status ReadRegionBody(absl::string_view body,
                            inference::CudaSharedMemoryRegisterRequest* request);

// These write what the method has answered, and do not fail: `response` is the daemon's own.
// Settings and regions stand in the order of their names, models in that of the response. Nothing
// bounds the text but the number of models, settings and regions that the daemon has. Thread-safe.
std::string IndexJson(const inference::RepositoryIndexResponse& response);
std::string TraceJson(const inference::TraceSettingResponse& response);
std::string LogJson(const inference::LogSettingsResponse& response);
std::string RegionsJson(const inference::SystemSharedMemoryStatusResponse& response);
std::string RegionsJson(const inference::CudaSharedMemoryStatusResponse& response);

}  // namespace mpsd
