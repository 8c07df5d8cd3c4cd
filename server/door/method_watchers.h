// MethodWatchers: the watched calls of a door that wait until their response may change.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/http/calls/method_table.h"

namespace mpsd {

// A watched call. Lives on its door's thread.
class MethodWatcher {
 public:
  // The method's state has changed: the call no longer waits.
  virtual void Woken() = 0;

 protected:
  ~MethodWatcher() = default;
};

// A look asks each method for its state once, however many calls wait, and wakes the calls whose
// state has changed. The door looks when its thread says so. Owned by the HttpDoor, outlives the
// calls. Lives on the door's thread.
class MethodWatchers {
 public:
  // Wakes `watcher` once the method's state is no longer `state`, which the caller read before it
  // made its response. REQUIRES: `watcher` does not wait already.
  void Add(MethodWatcher* watcher, const MethodTable::Method* method, uint64_t state);

  // Wakes `watcher` at a look from `from_ns` on. REQUIRES: as above.
  void AddUntil(MethodWatcher* watcher, int64_t from_ns);

  // Does nothing if `watcher` does not wait.
  void Remove(MethodWatcher* watcher) { waits_.erase(watcher); }

  void Look(int64_t now_ns);

 private:
  struct Wait {
    const MethodTable::Method* method = nullptr;  // null: waits for a time
    uint64_t state = 0;
    int64_t from_ns = 0;
  };

  absl::flat_hash_map<MethodWatcher*, Wait> waits_;
};

}  // namespace mpsd
