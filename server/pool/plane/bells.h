// Bells: the bells of all serving workers, and which thread hears them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "proto/base/clock.h"
#include "proto/base/platform.h"
#include "server/pool/lanes/worker_link.h"
#include "server/pool/plane/bell_policy.h"
#include "server/pool/plane/worker_bells.h"

namespace mpsd {

// A thread sleeps in a set of descriptors of its own, its ear. One ear hears the bells of all
// workers, so one ring wakes one thread. Owned by the plane. Thread-safe.
class Bells final : public WorkerBells {
 public:
  explicit Bells(const Clock* clock);

  // The error that left no bell to be heard.
  absl::Status status() const { return rung_.status(); }

  // Only `ear` hears the bells from now on. It outlives its hearing.
  void HearBy(platform::Poller* ear);

  // The ear that heard first, which stays, hears in its place.
  void Leave(platform::Poller* ear);

  // Whether a bell rings that nobody has cleared.
  bool Ring() const { return !rung_->Wait(0).empty(); }

  // A bell that rings for nothing too often (BellWatch) is not heard any more.
  void Clear();

  // `give_up` must only take note: it runs under this object's mutex.
  absl::Status Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) override;
  void Unwatch(const WorkerLink& link) override;

 private:
  struct Watched {
    std::shared_ptr<WorkerLink> link;
    std::function<void()> give_up;
    BellWatch bell;
  };

  void ClearOne(uint64_t token) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MoveTo(platform::Poller* ear) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Clock* const clock_;
  // Readable while a bell rings. The kernel guards the set.
  absl::StatusOr<platform::Poller> rung_;

  absl::Mutex mu_;
  std::atomic<platform::Poller*> ear_{nullptr};  // written under `mu_`
  platform::Poller* first_ ABSL_GUARDED_BY(mu_) = nullptr;
  uint64_t next_token_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Watched> links_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
