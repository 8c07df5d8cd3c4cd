#include "tests/metal/rules/autorelease_pools.h"

#include <cstdint>

namespace mpsd::standin {
namespace {

// A token is the thread's number of pools once its pool was open.
void* ToToken(size_t pools) { return reinterpret_cast<void*>(static_cast<uintptr_t>(pools)); }
size_t ToCount(void* token) { return static_cast<size_t>(reinterpret_cast<uintptr_t>(token)); }

}  // namespace

AutoreleasePools& AutoreleasePools::OfThread() {
  // Not destroyed with the thread: destructors of other thread-local objects may still release.
  static thread_local auto* const pools = new AutoreleasePools;
  return *pools;
}

void* AutoreleasePools::Push() {
  begins_.push_back(objects_.size());
  return ToToken(begins_.size());
}

void AutoreleasePools::Add(void* object) { objects_.push_back(object); }

void AutoreleasePools::Pop(void* token, const Release& release) {
  const size_t pools = ToCount(token);
  if (pools == 0 || pools > begins_.size()) {
    Broken(kPoolOrder, "drain");
    return;
  }
  // Releasing an object may add others.
  while (objects_.size() > begins_[pools - 1]) {
    void* const object = objects_.back();
    objects_.pop_back();
    release(object);
  }
  begins_.resize(pools - 1);
}

}  // namespace mpsd::standin
