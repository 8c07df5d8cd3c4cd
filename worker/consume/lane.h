// Lane: one inference thread of a worker, with its ring pair and its bell.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/notification.h"
#include "proto/base/clock.h"
#include "proto/link/warm_up.h"
#include "proto/shm/doorbell.h"
#include "proto/shm/ring.h"
#include "worker/consume/attachment.h"
#include "worker/consume/batch_reader.h"
#include "worker/execute/batch_executor.h"
#include "worker/model/model.h"

namespace mpsd {

// Lives on its own thread, but for Start() and WarmedUp(), which belong to the main thread; or on
// the main thread itself, which gives itself with WarmUpHere() and RunHere() instead. Takes
// batches from the lane's submit ring, in order, runs each and publishes its completion. Never
// waits for anything but its bell. Owned by the worker's main. The thread ends with the process: a
// worker is never asked to stop a lane, it is asked to exit.
class Lane {
 public:
  Lane(uint32_t index, const Attachment* attachment, Model* model, const Clock* clock);

  // Starts the thread: binds the lane to its stream, warms it up, then serves.
  void Start(WarmUp warmup);

  // Blocks until the lane serves, or says why it cannot.
  absl::Status WarmedUp();

  // Binds the lane to the calling thread and warms it up.
  absl::Status WarmUpHere(WarmUp warmup);

  // Serves on the thread that warmed the lane up, until the process ends.
  [[noreturn]] void RunHere();

 private:
  void Main(WarmUp warmup);
  void Sleep();
  void ServeOne();
  void Complete(uint32_t place);

  const uint32_t index_;
  const Attachment* const attachment_;
  Model* const model_;
  const Clock* const clock_;

  absl::Notification warmed_up_;
  absl::Status warmup_status_;  // written before warmed_up_ is notified

  // Owned by the lane's thread.
  LaneReport* const report_;
  RingConsumer submitted_;
  RingProducer completed_;
  uint32_t completed_count_ = 0;
  LaneSleep sleep_;
  FrontBell front_bell_;
  BatchReader reader_;
  BatchExecutor executor_;
  Batch batch_;

  std::thread thread_;
};

}  // namespace mpsd
