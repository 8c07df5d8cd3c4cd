// OpenMetal() of a library that a test puts in front of a program: the program itself has the
// function of Metal.
#include <dlfcn.h>

#include "tests/worker/metal/racy_driver.h"
#include "worker/metal/metal_device.h"

namespace mpsd {

absl::StatusOr<MetalDevice> OpenMetal() {
  return OpenMetalOf(RuntimeLibrary(), dlopen(nullptr, RTLD_LAZY));
}

}  // namespace mpsd
