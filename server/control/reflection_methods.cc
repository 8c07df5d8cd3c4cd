#include "server/control/reflection_methods.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <memory>
#include <string>
#include <unordered_set>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/control.pb.h"
#include "proto/health.pb.h"
#include "proto/inference.pb.h"
#include "proto/orca.pb.h"
#include "proto/reflection.pb.h"

namespace mpsd {
namespace {

namespace reflection_pb = grpc::reflection::v1;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;

constexpr const char* kServices[] = {"inference.GRPCInferenceService",
                                     "grpc.health.v1.Health",
                                     "mpsd.control.v1.Control",
                                     "grpc.reflection.v1.ServerReflection",
                                     "xds.service.orca.v3.OpenRcaService",
                                     "grpc.reflection.v1alpha.ServerReflection"};

constexpr const char* kPackage = "grpc.reflection.v1";
constexpr const char* kOlderPackage = "grpc.reflection.v1alpha";

// All linked descriptors, and the reflection service under its older name too.
std::shared_ptr<const DescriptorPool> MakePool() {
  google::protobuf::FileDescriptorProto file;
  reflection_pb::ServerReflectionRequest::descriptor()->file()->CopyTo(&file);
  const auto rename = [](std::string* type) {
    type->replace(0, absl::StrCat(".", kPackage).size(), absl::StrCat(".", kOlderPackage));
  };
  file.set_name("proto/reflection_v1alpha.proto");
  file.set_package(kOlderPackage);
  for (auto& message : *file.mutable_message_type()) {
    for (auto& field : *message.mutable_field()) {
      if (field.has_type_name()) rename(field.mutable_type_name());
    }
  }
  for (auto& service : *file.mutable_service()) {
    for (auto& method : *service.mutable_method()) {
      rename(method.mutable_input_type());
      rename(method.mutable_output_type());
    }
  }
  auto pool = std::make_shared<DescriptorPool>(DescriptorPool::generated_pool());
  MPSD_CHECK(pool->BuildFile(file) != nullptr);
  return pool;
}

void Refuse(absl::string_view what, reflection_pb::ServerReflectionResponse* response) {
  response->mutable_error_response()->set_error_code(static_cast<int>(absl::StatusCode::kNotFound));
  response->mutable_error_response()->set_error_message(absl::StrCat(what, " not found"));
}

void AddWithImports(const FileDescriptor* file, std::unordered_set<std::string>* seen,
                    reflection_pb::FileDescriptorResponse* response) {
  if (!seen->insert(std::string(file->name())).second) return;
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  MPSD_CHECK(proto.SerializeToString(response->add_file_descriptor_proto()));
  for (int i = 0; i < file->dependency_count(); ++i) {
    AddWithImports(file->dependency(i), seen, response);
  }
}

void AnswerFile(const FileDescriptor* file, absl::string_view what,
                reflection_pb::ServerReflectionResponse* response) {
  if (file == nullptr) return Refuse(what, response);
  std::unordered_set<std::string> seen;
  AddWithImports(file, &seen, response->mutable_file_descriptor_response());
}

// No message has extensions: an existing one gets an empty list.
void AnswerExtensions(const DescriptorPool& pool, const std::string& type,
                      reflection_pb::ServerReflectionResponse* response) {
  if (pool.FindMessageTypeByName(type) == nullptr) return Refuse("type", response);
  response->mutable_all_extension_numbers_response()->set_base_type_name(type);
}

void AnswerReflection(const DescriptorPool& pool,
                      const reflection_pb::ServerReflectionRequest& request,
                      reflection_pb::ServerReflectionResponse* response) {
  response->set_valid_host(request.host());
  *response->mutable_original_request() = request;
  switch (request.message_request_case()) {
    case reflection_pb::ServerReflectionRequest::kListServices:
      for (const char* name : kServices) {
        response->mutable_list_services_response()->add_service()->set_name(name);
      }
      return;
    case reflection_pb::ServerReflectionRequest::kFileByFilename:
      return AnswerFile(pool.FindFileByName(request.file_by_filename()), "file", response);
    case reflection_pb::ServerReflectionRequest::kFileContainingSymbol:
      return AnswerFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), "symbol",
                        response);
    case reflection_pb::ServerReflectionRequest::kAllExtensionNumbersOfType:
      return AnswerExtensions(pool, request.all_extension_numbers_of_type(), response);
    case reflection_pb::ServerReflectionRequest::kFileContainingExtension:
      return Refuse("extension", response);
    case reflection_pb::ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      break;
  }
  response->mutable_error_response()->set_error_code(
      static_cast<int>(absl::StatusCode::kInvalidArgument));
  response->mutable_error_response()->set_error_message("the request asks nothing");
}

// Links in descriptors that nothing else refers to.
void LinkDescriptors() {
  MPSD_CHECK(mpsd::control::v1::StatusRequest::descriptor() != nullptr);
  MPSD_CHECK(grpc::health::v1::HealthCheckRequest::descriptor() != nullptr);
  MPSD_CHECK(xds::service::orca::v3::OrcaLoadReportRequest::descriptor() != nullptr);
  MPSD_CHECK(inference::ServerLiveRequest::descriptor() != nullptr);
}

}  // namespace

void AddReflectionMethods(ReflectionAccess access, MethodTable* table) {
  if (access == ReflectionAccess::kOff) return;
  LinkDescriptors();
  const std::shared_ptr<const DescriptorPool> pool = MakePool();
  for (const char* package : {kPackage, kOlderPackage}) {
    table
        ->AddTyped<reflection_pb::ServerReflectionRequest, reflection_pb::ServerReflectionResponse>(
            absl::StrCat("/", package, ".ServerReflection/ServerReflectionInfo"),
            MethodTable::Kind::kConversation,
            [access, pool](const CallerInfo& caller, const auto& request, auto* response) {
              if (access == ReflectionAccess::kLocal && !caller.IsLocal()) {
                return absl::PermissionDeniedError("reflection is for callers on this host");
              }
              AnswerReflection(*pool, request, response);
              return absl::OkStatus();
            });
  }
}

}  // namespace mpsd
