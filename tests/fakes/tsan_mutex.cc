// Tells the thread sanitizer of absl::Mutex, which comes from a library that was built without it
// and whose locks it would not see otherwise. Linked into thread-sanitized tests only; it stands in
// front of the library's own functions and calls them.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstring>

#include "absl/synchronization/mutex.h"
#include "proto/base/check.h"

namespace {

using LibraryFunction = void (*)(absl::Mutex*);

// The function of this name that the library has.
LibraryFunction Next(void (absl::Mutex::*ours)()) {
  void* address = nullptr;
  std::memcpy(&address, &ours, sizeof(address));
  Dl_info info;
  MPSD_CHECK(dladdr(address, &info) != 0 && info.dli_sname != nullptr);
  void* next = dlsym(RTLD_NEXT, info.dli_sname);
  MPSD_CHECK(next != nullptr);
  return reinterpret_cast<LibraryFunction>(next);
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static const LibraryFunction lock = Next(&Mutex::Lock);
  __tsan_mutex_pre_lock(this, 0);
  lock(this);
  __tsan_mutex_post_lock(this, 0, 0);
}

void Mutex::Unlock() {
  static const LibraryFunction unlock = Next(&Mutex::Unlock);
  __tsan_mutex_pre_unlock(this, 0);
  unlock(this);
  __tsan_mutex_post_unlock(this, 0);
}

ABSL_NAMESPACE_END
}  // namespace absl
