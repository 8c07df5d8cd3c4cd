// MethodWatchers: watched calls that wait until their response may change.
#pragma once

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/http/calls/method_table.h"

namespace mpsd {

// A watched call. Lives on its door's thread.
class MethodWatcher {
 public:
  // The method's state has changed.
  virtual void Woken() = 0;

 protected:
  ~MethodWatcher() = default;
};

// Each look asks a method for its state once, however many calls wait. Owned by the HttpDoor,
// outlives the calls. Lives on the door's thread.
class MethodWatchers {
 public:
  // Wakes `watcher` when the state is no longer `state`, read before the response was made.
  // REQUIRES: `watcher` does not wait.
  void Add(MethodWatcher* watcher, const MethodTable::Method* method, uint64_t state);

  // Wakes `watcher` at a look from `from_ns` on, likewise.
  void AddUntil(MethodWatcher* watcher, int64_t from_ns);

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
