// ReleasedObjects: the objects whose last reference is gone.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kReleasedObject{
    "released-object", "an object takes no message after its last reference is gone"};

// The memory of a released object stays for a while, so that its address means nothing else and a
// late message is noticed. A process has one. Thread-safe.
class ReleasedObjects {
 public:
  explicit ReleasedObjects(size_t most) : most_(most) {}
  ~ReleasedObjects();
  ReleasedObjects(const ReleasedObjects&) = delete;
  ReleasedObjects& operator=(const ReleasedObjects&) = delete;

  static ReleasedObjects& All();

  // Takes the memory, which malloc() made. Frees that of the oldest object beyond `most`.
  void Add(void* object, std::string class_name);

  // Breaks the rule if `object` was released, and returns whether it was.
  bool Received(const void* object, const char* message) const;

 private:
  const size_t most_;
  mutable std::mutex mutex_;
  std::deque<void*> oldest_first_;                      // guarded by mutex_
  std::unordered_map<const void*, std::string> names_;  // guarded by mutex_
};

}  // namespace mpsd::standin
