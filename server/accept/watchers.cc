#include "server/accept/watchers.h"

#include <chrono>
#include <vector>

#include "proto/base/check.h"

namespace mpsd {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(200);

}  // namespace

void Watchers::Add(QueueTag* waiter, const MethodTable::Method* method, uint64_t state,
                   grpc::ServerCompletionQueue* queue) {
  const bool fresh = waits_.emplace(waiter, Wait{method, state}).second;
  MPSD_CHECK(fresh);
  if (queue_ != nullptr) return;
  queue_ = queue;
  SetAlarm();
}

// The queue cannot end while the alarm is out.
bool Watchers::Remove(QueueTag* waiter) {
  if (waits_.erase(waiter) == 0) return false;
  if (waits_.empty()) alarm_.Cancel();
  return true;
}

void Watchers::SetAlarm() {
  alarm_.Set(queue_, std::chrono::system_clock::now() + kBetweenLooks, this);
}

void Watchers::Proceed(bool) {
  MPSD_CHECK(queue_ != nullptr);
  WakeChanged();
  if (waits_.empty()) {
    queue_ = nullptr;
  } else {
    SetAlarm();
  }
}

// A woken call may wait again before the next one is woken.
void Watchers::WakeChanged() {
  absl::flat_hash_map<const MethodTable::Method*, uint64_t> states;
  std::vector<QueueTag*> changed;
  for (const auto& [waiter, wait] : waits_) {
    const auto [state, is_new] = states.try_emplace(wait.method, 0);
    if (is_new) state->second = wait.method->state();
    if (state->second != wait.state) changed.push_back(waiter);
  }
  for (QueueTag* waiter : changed) waits_.erase(waiter);
  for (QueueTag* waiter : changed) waiter->Proceed(true);
}

}  // namespace mpsd
