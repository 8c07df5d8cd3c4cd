// Watchers: one queue's watched calls that wait until their response may change.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/accept/queue_tag.h"
#include "server/entry/method_table.h"

namespace mpsd {

// While calls wait, looks five times a second at the states of their methods, and wakes the calls
// whose state has changed. A look asks each method once, however many calls wait. Owned by the
// queue's thread object, outlives the calls. Lives on the queue's thread.
class Watchers final : public QueueTag {
 public:
  // Wakes `waiter` with Proceed() once the method's state is no longer `state`, which the caller
  // read before it made its response. A woken call has left. REQUIRES: `waiter` does not wait
  // already.
  void Add(QueueTag* waiter, const MethodTable::Method* method, uint64_t state,
           grpc::ServerCompletionQueue* queue);

  bool Remove(QueueTag* waiter);

  void Proceed(bool ok) override;

 private:
  struct Wait {
    const MethodTable::Method* method = nullptr;
    uint64_t state = 0;
  };

  void SetAlarm();
  void WakeChanged();

  absl::flat_hash_map<QueueTag*, Wait> waits_;
  grpc::Alarm alarm_;
  grpc::ServerCompletionQueue* queue_ = nullptr;  // with the alarm out; null: none is
};

}  // namespace mpsd
