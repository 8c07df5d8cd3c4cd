// Tells the thread sanitizer about Abseil, whose libraries were built without it: otherwise the
// sanitizer sees neither the locks of absl::Mutex, nor that who waited for an absl::Notification
// comes after who notified, nor the counts of absl::Status. Linked into thread-sanitized tests
// only. Its functions stand in front of the library's own, and call them.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstring>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "proto/base/check.h"

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);

// The last holder of a status frees it; only the status's count orders that after the others'
// reads.
const char* __tsan_default_suppressions() { return "race:absl::*::Status::UnrefNonInlined\n"; }
}

namespace {

// Abseil's own detector of deadlocks keeps its graph under a lock that the sanitizer does not see,
// and would be reported for it. The sanitizer finds locks taken in two orders by itself.
[[maybe_unused]] const bool detector_is_off = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return true;
}();

// Calls the library's function that has the same name as `ours`.
template <auto ours, typename Result, typename Object, typename... Arguments>
Result CallLibrary(Object* object, Arguments... arguments) {
  using LibraryFunction = Result (*)(Object*, Arguments...);
  static const LibraryFunction next = [] {
    auto member = ours;
    void* address = nullptr;
    std::memcpy(&address, &member, sizeof(address));
    Dl_info info;
    MPSD_CHECK(dladdr(address, &info) != 0 && info.dli_sname != nullptr);
    void* found = dlsym(RTLD_NEXT, info.dli_sname);
    MPSD_CHECK(found != nullptr);
    return reinterpret_cast<LibraryFunction>(found);
  }();
  return next(object, arguments...);
}

// The library evaluates waiters' conditions on the thread that happens to have the mutex, when the
// sanitizer has already been told that the mutex was released.
class ConditionsAreRead {
 public:
  ConditionsAreRead() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~ConditionsAreRead() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
};

void GivenBack(absl::Mutex* mutex, unsigned flags) {
  __tsan_mutex_pre_unlock(mutex, flags);
  __tsan_mutex_post_unlock(mutex, flags);
}

void Taken(absl::Mutex* mutex, unsigned flags) {
  __tsan_mutex_pre_lock(mutex, flags);
  __tsan_mutex_post_lock(mutex, flags, 0);
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  CallLibrary<&Mutex::Lock, void>(this);
  Taken(this, 0);
}

bool Mutex::TryLock() {
  const bool is_taken = CallLibrary<&Mutex::TryLock, bool>(this);
  if (is_taken) Taken(this, 0);
  return is_taken;
}

void Mutex::Unlock() {
  GivenBack(this, 0);
  const ConditionsAreRead ignored;
  CallLibrary<&Mutex::Unlock, void>(this);
}

void Mutex::ReaderLock() {
  CallLibrary<&Mutex::ReaderLock, void>(this);
  Taken(this, __tsan_mutex_read_lock);
}

void Mutex::ReaderUnlock() {
  GivenBack(this, __tsan_mutex_read_lock);
  const ConditionsAreRead ignored;
  CallLibrary<&Mutex::ReaderUnlock, void>(this);
}

#if ABSL_LTS_RELEASE_VERSION < 20240722
void Mutex::LockWhen(const Condition& condition) {
  {
    const ConditionsAreRead ignored;
    CallLibrary<&Mutex::LockWhen, void, Mutex, const Condition&>(this, condition);
  }
  Taken(this, 0);
}

bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  bool met;
  {
    const ConditionsAreRead ignored;
    met = CallLibrary<&Mutex::LockWhenWithTimeout, bool, Mutex, const Condition&>(this, condition,
                                                                                  timeout);
  }
  Taken(this, 0);
  return met;
}

void Mutex::Await(const Condition& condition) {
  GivenBack(this, 0);
  {
    const ConditionsAreRead ignored;
    CallLibrary<&Mutex::Await, void, Mutex, const Condition&>(this, condition);
  }
  Taken(this, 0);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  GivenBack(this, 0);
  bool met;
  {
    const ConditionsAreRead ignored;
    met = CallLibrary<&Mutex::AwaitWithTimeout, bool, Mutex, const Condition&>(this, condition,
                                                                               timeout);
  }
  Taken(this, 0);
  return met;
}
#else  // the header's functions call these
bool Mutex::LockWhenCommon(const Condition& condition,
                           synchronization_internal::KernelTimeout timeout, bool write) {
  bool met;
  {
    const ConditionsAreRead ignored;
    met = CallLibrary<&Mutex::LockWhenCommon, bool, Mutex, const Condition&>(this, condition,
                                                                             timeout, write);
  }
  Taken(this, write ? 0 : __tsan_mutex_read_lock);
  return met;
}

bool Mutex::AwaitCommon(const Condition& condition,
                        synchronization_internal::KernelTimeout timeout) {
  GivenBack(this, 0);
  bool met;
  {
    const ConditionsAreRead ignored;
    met = CallLibrary<&Mutex::AwaitCommon, bool, Mutex, const Condition&>(this, condition, timeout);
  }
  Taken(this, 0);
  return met;
}
#endif

// Who finds a notification given waits for no lock, so the sanitizer needs its own word.
void Notification::Notify() {
  __tsan_release(this);
  CallLibrary<&Notification::Notify, void>(this);
}

void Notification::WaitForNotification() const {
  CallLibrary<&Notification::WaitForNotification, void>(this);
  __tsan_acquire(const_cast<Notification*>(this));
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  const bool given =
      CallLibrary<&Notification::WaitForNotificationWithTimeout, bool>(this, timeout);
  if (given) __tsan_acquire(const_cast<Notification*>(this));
  return given;
}

ABSL_NAMESPACE_END
}  // namespace absl
