#include "worker/metal/metal_device.h"

#include <dlfcn.h>

namespace mpsd {
namespace {

// Null if Metal or a gpu is missing.
ObjectiveC::Object DefaultDevice(void* metal) {
  if (metal == nullptr) return nullptr;
  using Create = ObjectiveC::Object (*)();
  const auto create = reinterpret_cast<Create>(dlsym(metal, "MTLCreateSystemDefaultDevice"));
  return create == nullptr ? nullptr : create();
}

}  // namespace

absl::StatusOr<MetalDevice> OpenMetalOf(const char* objective_c, void* metal) {
  const absl::StatusOr<ObjectiveC> runtime = ObjectiveC::Load(objective_c);
  if (!runtime.ok()) return runtime.status();
  const ObjectiveC::Object device = DefaultDevice(metal);
  if (device == nullptr) return absl::UnavailableError("Metal has no device here");
  return MetalDevice{*runtime, device};
}

}  // namespace mpsd
