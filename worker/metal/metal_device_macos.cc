// Metal's only function is looked up, so that nothing links a framework. Not yet run on a Mac.
#include <dlfcn.h>

#include "worker/metal/metal_device.h"

namespace mpsd {
namespace {

constexpr char kObjectiveC[] = "/usr/lib/libobjc.A.dylib";
constexpr char kMetal[] = "/System/Library/Frameworks/Metal.framework/Metal";

}  // namespace

absl::StatusOr<MetalDevice> OpenMetal() {
  return OpenMetalOf(kObjectiveC, dlopen(kMetal, RTLD_LAZY));
}

}  // namespace mpsd
