// OpenMetal() for a worker on the stand-in of Metal (tests/metal): its library holds both Metal and
// the functions of an Objective-C runtime.
#include <dlfcn.h>

#include "worker/metal/metal_device.h"

namespace mpsd {
namespace {

constexpr char kStandin[] = "libmetal_standin.so";

}  // namespace

absl::StatusOr<MetalDevice> OpenMetal() {
  return OpenMetalOf(kStandin, dlopen(kStandin, RTLD_LAZY));
}

}  // namespace mpsd
