// FakePoolKeeper: remembers what a pool asked its supervisor for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/pool/pool_keeper.h"
#include "server/request/served_model.h"

namespace mpsd {

// Thread-safe.
class FakePoolKeeper final : public PoolKeeper {
 public:
  struct Condemned {
    std::string model;
    uint32_t worker = 0;
    uint32_t epoch = 0;
    std::string reason;
  };

  void Condemn(const ServedModel& model, uint32_t worker, uint32_t epoch,
               const std::string& reason) override {
    absl::MutexLock lock(&mu_);
    condemned_.push_back({model.name, worker, epoch, reason});
  }

  void WakeBy(int64_t when_ns) override {
    if (on_wake != nullptr) on_wake(when_ns);
    absl::MutexLock lock(&mu_);
    wake_by_ns_ = when_ns;
  }

  void WakePools() override {
    absl::MutexLock lock(&mu_);
    ++pool_wakes_;
  }

  // How often all pools were to be drained.
  uint32_t pool_wakes() const {
    absl::MutexLock lock(&mu_);
    return pool_wakes_;
  }

  std::vector<Condemned> condemned() const {
    absl::MutexLock lock(&mu_);
    return condemned_;
  }

  // The wake-up time that was asked for last; 0: none.
  int64_t wake_by_ns() const {
    absl::MutexLock lock(&mu_);
    return wake_by_ns_;
  }

  std::function<void(int64_t when_ns)> on_wake;  // set before the pool is used

 private:
  mutable absl::Mutex mu_;
  std::vector<Condemned> condemned_ ABSL_GUARDED_BY(mu_);
  int64_t wake_by_ns_ ABSL_GUARDED_BY(mu_) = 0;
  uint32_t pool_wakes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace mpsd
