#include "server/door/method_watchers.h"

#include <vector>

#include "proto/base/check.h"

namespace mpsd {

void MethodWatchers::Add(MethodWatcher* watcher, const MethodTable::Method* method,
                         uint64_t state) {
  const bool fresh = waits_.emplace(watcher, Wait{method, state}).second;
  MPSD_CHECK(fresh);
}

void MethodWatchers::AddUntil(MethodWatcher* watcher, int64_t from_ns) {
  const bool fresh = waits_.emplace(watcher, Wait{nullptr, 0, from_ns}).second;
  MPSD_CHECK(fresh);
}

// A woken call may wait again before the next one is woken.
void MethodWatchers::Look(int64_t now_ns) {
  absl::flat_hash_map<const MethodTable::Method*, uint64_t> states;
  std::vector<MethodWatcher*> changed;
  for (const auto& [watcher, wait] : waits_) {
    if (wait.method == nullptr) {
      if (now_ns >= wait.from_ns) changed.push_back(watcher);
      continue;
    }
    const auto [state, is_new] = states.try_emplace(wait.method, 0);
    if (is_new) state->second = wait.method->state();
    if (state->second != wait.state) changed.push_back(watcher);
  }
  for (MethodWatcher* watcher : changed) waits_.erase(watcher);
  for (MethodWatcher* watcher : changed) watcher->Woken();
}

}  // namespace mpsd
