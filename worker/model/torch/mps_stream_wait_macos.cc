// Not yet run on a Mac. A thread may touch a stream of mps only inside the stream's queue. c10's
// guard would wait for all lanes' streams.
#include "ATen/mps/MPSStream.h"
#include "worker/model/foreign_errors.h"
#include "worker/model/torch/mps_stream_wait.h"

namespace mpsd {
namespace {

struct Wait {
  at::mps::MPSStream* stream = nullptr;
  absl::Status status;
};

// No exception may pass through the queue.
void WaitInQueue(void* context) {
  auto* const wait = static_cast<Wait*>(context);
  wait->status = CatchForeign([wait] {
    wait->stream->synchronize(at::mps::SyncType::COMMIT_AND_WAIT);
    return absl::OkStatus();
  });
}

}  // namespace

absl::Status WaitForMpsStream() {
  return CatchForeign([] {
    Wait wait{at::mps::getCurrentMPSStream(), absl::OkStatus()};
    dispatch_sync_f(wait.stream->queue(), &wait, &WaitInQueue);
    return wait.status;
  });
}

}  // namespace mpsd
