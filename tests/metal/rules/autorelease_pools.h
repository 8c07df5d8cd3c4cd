// AutoreleasePools: the objects that a thread gives up at the end of its current pool.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tests/metal/rules/rule.h"

namespace mpsd::standin {

inline constexpr Rule kPoolOrder{
    "pool-order", "a thread drains its own autorelease pools, each before those around it"};

// The pools of one thread. An object that is added without a pool stays for ever, as with a real
// runtime. Lives on its thread.
class AutoreleasePools {
 public:
  using Release = std::function<void(void* object)>;

  static AutoreleasePools& OfThread();

  // Begins a pool and returns its token.
  void* Push();

  void Add(void* object);

  // Ends the pool of `token`, and releases what was added since. Pools inside of it end too: an
  // exception may have left them open. A token of a pool that has ended, or of another thread,
  // breaks the rule.
  void Pop(void* token, const Release& release);

 private:
  std::vector<size_t> begins_;  // where each open pool begins in objects_
  std::vector<void*> objects_;
};

}  // namespace mpsd::standin
