// Watchers: the watched calls of one queue that wait until their response may be different.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "server/accept/queue_tag.h"
#include "server/entry/method_table.h"

namespace mpsd {

// Looks at the states of the watched methods five times a second, as long as some call waits, and
// wakes the calls whose method's state has changed. However many calls wait, a look asks each
// method once. Owned by the queue's thread object, outlives the calls. Lives on the queue's thread.
class Watchers final : public QueueTag {
 public:
  // Wakes `waiter` with Proceed() as soon as the method's state is no longer `state`, which the
  // caller has read before it made its response. The call has left when it is woken. REQUIRES:
  // `waiter` does not wait already.
  void Add(QueueTag* waiter, const MethodTable::Method* method, uint64_t state,
           grpc::ServerCompletionQueue* queue);

  // False when `waiter` does not wait.
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
  grpc::ServerCompletionQueue* queue_ = nullptr;  // of the alarm that is out; null: none is
};

}  // namespace mpsd
