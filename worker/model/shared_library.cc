#include "worker/model/shared_library.h"

#include <dlfcn.h>

namespace mpsd {

absl::Status LoadForGood(const char* name) {
  if (dlopen(name, RTLD_NOW | RTLD_GLOBAL) != nullptr) return absl::OkStatus();
  const char* why = dlerror();
  return absl::FailedPreconditionError(why != nullptr ? why : name);
}

}  // namespace mpsd
