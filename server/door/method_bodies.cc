#include "server/door/method_bodies.h"

#include <array>

#include "proto/base/check.h"
#include "proto/control.pb.h"
#include "proto/inference.pb.h"
#include "server/bodies/json/control_json.h"
#include "server/bodies/json/message_json.h"

namespace mpsd {
namespace {

namespace pb = inference;

constexpr char kStatusMethod[] = "/mpsd.control.v1.Control/Status";

struct MethodBodies {
  RouteKind kind;
  absl::string_view method;  // the full name
  absl::StatusOr<std::string> (*request)(const Route& route, absl::string_view body);
  absl::StatusOr<std::string> (*json)(const std::string& response);
};

absl::StatusOr<std::string> NoFields(const Route&, absl::string_view) { return ""; }

template <typename Request>
absl::StatusOr<std::string> OfModel(const Route& route, absl::string_view) {
  Request request;
  request.set_name(route.model);
  request.set_version(route.version);
  return request.SerializeAsString();
}

absl::StatusOr<std::string> OfForgiven(const Route& route, absl::string_view) {
  control::v1::ForgiveRequest request;
  request.set_model_name(route.model);
  return request.SerializeAsString();
}

template <typename Request>
absl::StatusOr<std::string> OfRegion(const Route& route, absl::string_view) {
  Request request;
  request.set_name(route.region);
  return request.SerializeAsString();
}

absl::StatusOr<std::string> OfIndex(const Route&, absl::string_view body) {
  pb::RepositoryIndexRequest request;
  if (absl::Status status = ReadIndexBody(body, &request); !status.ok()) return status;
  return request.SerializeAsString();
}

// The body cannot override the path's values, which are set last.
template <typename Request, absl::Status (*read)(absl::string_view, Request*)>
absl::StatusOr<std::string> OfModelAndBody(const Route& route, absl::string_view body) {
  Request request;
  if (absl::Status status = read(body, &request); !status.ok()) return status;
  request.set_model_name(route.model);
  return request.SerializeAsString();
}

template <typename Request>
absl::StatusOr<std::string> OfRegionAndBody(const Route& route, absl::string_view body) {
  Request request;
  if (absl::Status status = ReadRegionBody(body, &request); !status.ok()) return status;
  request.set_name(route.region);
  return request.SerializeAsString();
}

absl::StatusOr<std::string> OfLog(const Route&, absl::string_view body) {
  pb::LogSettingsRequest request;
  if (absl::Status status = ReadLogBody(body, &request); !status.ok()) return status;
  return request.SerializeAsString();
}

absl::StatusOr<std::string> Nothing(const std::string&) { return ""; }

// A text of a file or folder that is not UTF-8 makes the response unreadable.
template <typename Response, std::string (*write)(const Response&)>
absl::StatusOr<std::string> By(const std::string& bytes) {
  Response response;
  if (response.ParseFromString(bytes)) return write(response);
  return absl::InternalError("the answer has a text that is not UTF-8");
}

template <typename Response>
std::string Whole(const Response& response) {
  return MessageJson(response);
}

std::string ConfigAlone(const pb::ModelConfigResponse& response) {
  return MessageJson(response.config());
}

constexpr std::array<MethodBodies, 19> kMethods = {{
    {RouteKind::kServerMetadata, "/inference.GRPCInferenceService/ServerMetadata", NoFields,
     By<pb::ServerMetadataResponse, Whole>},
    {RouteKind::kFrontPage, kStatusMethod, NoFields, Nothing},
    {RouteKind::kStatus, kStatusMethod, NoFields, By<control::v1::StatusReply, Whole>},
    {RouteKind::kForgive, "/mpsd.control.v1.Control/Forgive", OfForgiven,
     By<control::v1::ForgiveReply, Whole>},
    {RouteKind::kModelMetadata, "/inference.GRPCInferenceService/ModelMetadata",
     OfModel<pb::ModelMetadataRequest>, By<pb::ModelMetadataResponse, Whole>},
    {RouteKind::kModelReady, "/inference.GRPCInferenceService/ModelReady",
     OfModel<pb::ModelReadyRequest>, Nothing},
    {RouteKind::kModelConfig, "/inference.GRPCInferenceService/ModelConfig",
     OfModel<pb::ModelConfigRequest>, By<pb::ModelConfigResponse, ConfigAlone>},
    {RouteKind::kModelStatistics, "/inference.GRPCInferenceService/ModelStatistics",
     OfModel<pb::ModelStatisticsRequest>, By<pb::ModelStatisticsResponse, Whole>},
    {RouteKind::kRepositoryIndex, "/inference.GRPCInferenceService/RepositoryIndex", OfIndex,
     By<pb::RepositoryIndexResponse, IndexJson>},
    {RouteKind::kModelLoad, "/inference.GRPCInferenceService/RepositoryModelLoad",
     OfModelAndBody<pb::RepositoryModelLoadRequest, ReadLoadBody>, Nothing},
    {RouteKind::kModelUnload, "/inference.GRPCInferenceService/RepositoryModelUnload",
     OfModelAndBody<pb::RepositoryModelUnloadRequest, ReadUnloadBody>, Nothing},
    {RouteKind::kTraceSetting, "/inference.GRPCInferenceService/TraceSetting",
     OfModelAndBody<pb::TraceSettingRequest, ReadTraceBody>,
     By<pb::TraceSettingResponse, TraceJson>},
    {RouteKind::kLogSettings, "/inference.GRPCInferenceService/LogSettings", OfLog,
     By<pb::LogSettingsResponse, LogJson>},
    {RouteKind::kSystemRegions, "/inference.GRPCInferenceService/SystemSharedMemoryStatus",
     OfRegion<pb::SystemSharedMemoryStatusRequest>,
     By<pb::SystemSharedMemoryStatusResponse, RegionsJson>},
    {RouteKind::kSystemRegister, "/inference.GRPCInferenceService/SystemSharedMemoryRegister",
     OfRegionAndBody<pb::SystemSharedMemoryRegisterRequest>, Nothing},
    {RouteKind::kSystemUnregister, "/inference.GRPCInferenceService/SystemSharedMemoryUnregister",
     OfRegion<pb::SystemSharedMemoryUnregisterRequest>, Nothing},
    {RouteKind::kCudaRegions, "/inference.GRPCInferenceService/CudaSharedMemoryStatus",
     OfRegion<pb::CudaSharedMemoryStatusRequest>,
     By<pb::CudaSharedMemoryStatusResponse, RegionsJson>},
    {RouteKind::kCudaRegister, "/inference.GRPCInferenceService/CudaSharedMemoryRegister",
     OfRegionAndBody<pb::CudaSharedMemoryRegisterRequest>, Nothing},
    {RouteKind::kCudaUnregister, "/inference.GRPCInferenceService/CudaSharedMemoryUnregister",
     OfRegion<pb::CudaSharedMemoryUnregisterRequest>, Nothing},
}};

const MethodBodies& BodiesOf(RouteKind kind) {
  for (const MethodBodies& bodies : kMethods) {
    if (bodies.kind == kind) return bodies;
  }
  MPSD_CHECK(false);
  return kMethods[0];
}

}  // namespace

absl::string_view MethodNameOf(RouteKind kind) { return BodiesOf(kind).method; }

absl::StatusOr<std::string> MethodRequestOf(const Route& route, absl::string_view body) {
  return BodiesOf(route.kind).request(route, body);
}

absl::StatusOr<std::string> MethodJsonOf(RouteKind kind, const std::string& response) {
  return BodiesOf(kind).json(response);
}

}  // namespace mpsd
