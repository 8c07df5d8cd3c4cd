#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/inference.pb.h"
#include "server/control/setting_methods.h"
#include "server/regions/client_regions.h"

namespace mpsd {
namespace {

namespace pb = inference;
using Kind = MethodTable::Kind;

absl::Status NotEnabled(const std::string& why) {
  return absl::UnimplementedError(absl::StrCat(why, "; send tensors in raw_input_contents"));
}

// Clients that clean up first list and unregister all regions, whatever the server allows. Only a
// region with a name is refused.
template <typename StatusRequest, typename StatusResponse, typename UnregisterRequest,
          typename UnregisterResponse>
void AddRefusal(absl::string_view kind, const std::string& why, MethodTable* table) {
  const auto refuse_names = [why](const CallerInfo&, const auto& request, auto*) {
    return request.name().empty() ? absl::OkStatus() : NotEnabled(why);
  };
  table->Add(InferenceMethodName(absl::StrCat(kind, "SharedMemoryRegister")), Kind::kUnary,
             [why](const CallerInfo&, absl::string_view, std::string*) { return NotEnabled(why); });
  table->AddTyped<StatusRequest, StatusResponse>(
      InferenceMethodName(absl::StrCat(kind, "SharedMemoryStatus")), Kind::kUnary, refuse_names);
  table->AddTyped<UnregisterRequest, UnregisterResponse>(
      InferenceMethodName(absl::StrCat(kind, "SharedMemoryUnregister")), Kind::kUnary,
      refuse_names);
}

absl::Status Register(ClientRegions* regions, const CallerInfo& caller,
                      const pb::SystemSharedMemoryRegisterRequest& request) {
  return regions->Register(caller.connection, RegionSpec{request.name(), request.key(),
                                                         request.offset(), request.byte_size()});
}

void Describe(const RegionSpec& spec, pb::SystemSharedMemoryStatusResponse::RegionStatus* status) {
  status->set_name(spec.name);
  status->set_key(spec.key);
  status->set_offset(spec.offset);
  status->set_byte_size(spec.bytes);
}

void Describe(const RegionSpec& spec, pb::CudaSharedMemoryStatusResponse::RegionStatus* status) {
  status->set_name(spec.name);
  status->set_device_id(static_cast<uint64_t>(spec.device));
  status->set_byte_size(spec.bytes);
}

// `kind_name` is the clients' word.
template <typename Response>
absl::Status Status(const ClientRegions& regions, const CallerInfo& caller, RegionKind kind,
                    absl::string_view kind_name, const std::string& name, Response* response) {
  for (const std::shared_ptr<const ClientRegion>& region : regions.List(caller.connection, kind)) {
    const RegionSpec& spec = region->spec();
    if (!name.empty() && name != spec.name) continue;
    Describe(spec, &(*response->mutable_regions())[spec.name]);
  }
  if (name.empty() || !response->regions().empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("Unable to find ", kind_name, " shared memory region: '", name, "'"));
}

void AddSystemMethods(ClientRegions* regions, MethodTable* table) {
  table->AddTyped<pb::SystemSharedMemoryRegisterRequest, pb::SystemSharedMemoryRegisterResponse>(
      InferenceMethodName("SystemSharedMemoryRegister"), Kind::kUnary,
      [regions](const CallerInfo& caller, const auto& request, auto*) {
        return Register(regions, caller, request);
      });
  table
      ->AddTyped<pb::SystemSharedMemoryUnregisterRequest, pb::SystemSharedMemoryUnregisterResponse>(
          InferenceMethodName("SystemSharedMemoryUnregister"), Kind::kUnary,
          [regions](const CallerInfo& caller, const auto& request, auto*) {
            regions->Unregister(caller.connection, RegionKind::kObject, request.name());
            return absl::OkStatus();
          });
  table->AddTyped<pb::SystemSharedMemoryStatusRequest, pb::SystemSharedMemoryStatusResponse>(
      InferenceMethodName("SystemSharedMemoryStatus"), Kind::kUnary,
      [regions](const CallerInfo& caller, const auto& request, auto* response) {
        return Status(*regions, caller, RegionKind::kObject, "system", request.name(), response);
      });
}

void AddCudaMethods(ClientRegions* regions, MethodTable* table) {
  table->AddTypedDeferred<pb::CudaSharedMemoryRegisterRequest>(
      InferenceMethodName("CudaSharedMemoryRegister"),
      [regions](const CallerInfo& caller, const auto& request, auto answer) {
        RegionSpec spec;
        spec.name = request.name();
        spec.bytes = request.byte_size();
        spec.handle = request.raw_handle();
        spec.device = request.device_id();
        regions->RegisterDevice(caller.connection, std::move(spec), answer);
      });
  table->AddTyped<pb::CudaSharedMemoryUnregisterRequest, pb::CudaSharedMemoryUnregisterResponse>(
      InferenceMethodName("CudaSharedMemoryUnregister"), Kind::kUnary,
      [regions](const CallerInfo& caller, const auto& request, auto*) {
        regions->Unregister(caller.connection, RegionKind::kDevice, request.name());
        return absl::OkStatus();
      });
  table->AddTyped<pb::CudaSharedMemoryStatusRequest, pb::CudaSharedMemoryStatusResponse>(
      InferenceMethodName("CudaSharedMemoryStatus"), Kind::kUnary,
      [regions](const CallerInfo& caller, const auto& request, auto* response) {
        return Status(*regions, caller, RegionKind::kDevice, "cuda", request.name(), response);
      });
}

}  // namespace

void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table) {
  if (regions->Takes(RegionKind::kObject)) {
    AddSystemMethods(regions, table);
  } else {
    AddRefusal<pb::SystemSharedMemoryStatusRequest, pb::SystemSharedMemoryStatusResponse,
               pb::SystemSharedMemoryUnregisterRequest, pb::SystemSharedMemoryUnregisterResponse>(
        "System", "shared memory regions of clients are not enabled on this server", table);
  }
  if (regions->Takes(RegionKind::kDevice)) {
    AddCudaMethods(regions, table);
  } else {
    AddRefusal<pb::CudaSharedMemoryStatusRequest, pb::CudaSharedMemoryStatusResponse,
               pb::CudaSharedMemoryUnregisterRequest, pb::CudaSharedMemoryUnregisterResponse>(
        "Cuda", "CUDA shared memory regions of clients are not enabled on this server", table);
  }
}

}  // namespace mpsd
