#include "server/control/shared_memory_methods.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/inference.pb.h"
#include "server/control/inference_method_name.h"

namespace mpsd {
namespace {

namespace pb = inference;
using Kind = MethodTable::Kind;

void AddRefusal(absl::string_view kind, absl::string_view why, MethodTable* table) {
  for (const char* verb : {"Status", "Register", "Unregister"}) {
    table->Add(InferenceMethodName(absl::StrCat(kind, "SharedMemory", verb)), Kind::kUnary,
               [text = absl::StrCat(why, "; send tensors in raw_input_contents")](
                   const CallerInfo&, absl::string_view, std::string*) {
                 return absl::UnimplementedError(text);
               });
  }
}

absl::Status Register(ClientRegions* regions, const CallerInfo& caller,
                      const pb::SystemSharedMemoryRegisterRequest& request) {
  return regions->Register(
      caller.connection, caller.peer,
      RegionSpec{request.name(), request.key(), request.offset(), request.byte_size()});
}

absl::Status Status(const ClientRegions& regions, const CallerInfo& caller,
                    const pb::SystemSharedMemoryStatusRequest& request,
                    pb::SystemSharedMemoryStatusResponse* response) {
  for (const std::shared_ptr<const ClientRegion>& region : regions.List(caller.connection)) {
    const RegionSpec& spec = region->spec();
    if (!request.name().empty() && request.name() != spec.name) continue;
    auto& status = (*response->mutable_regions())[spec.name];
    status.set_name(spec.name);
    status.set_key(spec.key);
    status.set_offset(spec.offset);
    status.set_byte_size(spec.bytes);
  }
  if (request.name().empty() || !response->regions().empty()) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("Unable to find system shared memory region: '", request.name(), "'"));
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
            regions->Unregister(caller.connection, request.name());
            return absl::OkStatus();
          });
  table->AddTyped<pb::SystemSharedMemoryStatusRequest, pb::SystemSharedMemoryStatusResponse>(
      InferenceMethodName("SystemSharedMemoryStatus"), Kind::kUnary,
      [regions](const CallerInfo& caller, const auto& request, auto* response) {
        return Status(*regions, caller, request, response);
      });
}

}  // namespace

void AddSharedMemoryMethods(ClientRegions* regions, MethodTable* table) {
  if (regions->enabled()) {
    AddSystemMethods(regions, table);
  } else {
    AddRefusal("System", "shared memory regions of clients are not enabled on this server", table);
  }
  AddRefusal("Cuda", "CUDA shared memory regions of clients are not supported by this server",
             table);
}

}  // namespace mpsd
