#include "tests/metal/rules/released_objects.h"

#include <cstdlib>
#include <utility>

namespace mpsd::standin {
namespace {

constexpr size_t kMostKept = 200'000;

}  // namespace

ReleasedObjects& ReleasedObjects::All() {
  static auto* const all = new ReleasedObjects(kMostKept);
  return *all;
}

ReleasedObjects::~ReleasedObjects() {
  for (void* object : oldest_first_) std::free(object);
}

void ReleasedObjects::Add(void* object, std::string class_name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  names_[object] = std::move(class_name);
  oldest_first_.push_back(object);
  if (oldest_first_.size() <= most_) return;
  names_.erase(oldest_first_.front());
  std::free(oldest_first_.front());
  oldest_first_.pop_front();
}

bool ReleasedObjects::Received(const void* object, const char* message) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = names_.find(object);
  if (found == names_.end()) return false;
  Broken(kReleasedObject, found->second + " " + message);
  return true;
}

}  // namespace mpsd::standin
