// Metal's one function that is needed is looked up at run time, so that the worker links no
// framework. Not yet run on a Mac.
#include <dlfcn.h>

#include "worker/metal/metal_device.h"

namespace mpsd {
namespace {

constexpr char kObjectiveC[] = "/usr/lib/libobjc.A.dylib";
constexpr char kMetal[] = "/System/Library/Frameworks/Metal.framework/Metal";

// Null where Metal or a gpu is missing. The library and the device stay.
ObjectiveC::Object DefaultDevice() {
  void* const metal = dlopen(kMetal, RTLD_LAZY);
  if (metal == nullptr) return nullptr;
  using Create = ObjectiveC::Object (*)();
  const auto create = reinterpret_cast<Create>(dlsym(metal, "MTLCreateSystemDefaultDevice"));
  return create == nullptr ? nullptr : create();
}

}  // namespace

absl::StatusOr<MetalDevice> OpenMetal() {
  const absl::StatusOr<ObjectiveC> runtime = ObjectiveC::Load(kObjectiveC);
  if (!runtime.ok()) return runtime.status();
  const ObjectiveC::Object device = DefaultDevice();
  if (device == nullptr) return absl::UnavailableError("Metal has no device here");
  return MetalDevice{*runtime, device};
}

}  // namespace mpsd
