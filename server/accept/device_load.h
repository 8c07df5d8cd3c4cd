// DeviceLoad: the way of one request's inputs out of devices' memory, and back to its call's queue.
#pragma once

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>

#include <optional>

#include "absl/status/status.h"
#include "server/accept/infer_call_context.h"
#include "server/accept/queue_tag.h"
#include "server/regions/request_regions.h"

namespace mpsd {

// Lives on its queue's thread, which never waits for a device: the copies are made by the copier's,
// and `loaded` comes back to the queue when they are. Belongs to a call, and is used again.
class DeviceLoad {
 public:
  // OK: `loaded` will come, once. Otherwise it does not, and the status is the client's answer.
  // What is late when its turn comes is not copied; admission says what is to be said of it.
  absl::Status Begin(const InferCallContext& context, int64_t deadline_ns, RequestRegions* regions,
                     QueueTag* loaded) {
    alarm_.emplace();
    return context.regions->copier()->Enqueue([this, &context, deadline_ns, regions, loaded] {
      const bool late = deadline_ns <= context.clock->NowNs();
      status_ = late ? absl::OkStatus() : regions->LoadFromDevice();
      alarm_->Set(context.queue, gpr_now(GPR_CLOCK_MONOTONIC), loaded);
    });
  }

  // Once `loaded` is back: how it went.
  const absl::Status& status() const { return status_; }

 private:
  std::optional<grpc::Alarm> alarm_;
  absl::Status status_;
};

}  // namespace mpsd
