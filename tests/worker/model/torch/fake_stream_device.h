// FakeStreamDevice: a device of 32 streams that notices when they are misused.
#pragma once

#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "worker/model/torch/stream_set.h"

namespace mpsd {

// Stream 0 is the main one; the pool goes round through streams 1 to `pool`. Work() does what a
// lane does on its stream. A fault is anything that would make a real device crash or give wrong
// numbers. Thread-safe.
class FakeStreamDevice final : public StreamDevice {
 public:
  explicit FakeStreamDevice(int64_t pool = 31) : pool_(pool) {}

  int64_t MainStream() override { return 0; }
  int64_t NextStream() override {
    absl::MutexLock lock(&mu_);
    if (pool_ == 0) return 0;
    next_ = next_ % pool_ + 1;
    return next_;
  }
  void MakeCurrent(int64_t stream) override {
    absl::MutexLock lock(&mu_);
    current_[std::this_thread::get_id()] = stream;
  }
  absl::Status Synchronize(int64_t stream) override {
    absl::MutexLock lock(&mu_);
    waits_.push_back(stream);
    unfinished_.erase(stream);
    return broken_.count(stream) > 0 ? absl::InternalError("stream error") : absl::OkStatus();
  }

  // Begins work on the calling thread's stream, and leaves it unfinished.
  void Work() {
    absl::MutexLock lock(&mu_);
    const auto found = current_.find(std::this_thread::get_id());
    if (found == current_.end()) return Fault("work on a thread without a stream");
    const auto [user, first] = users_.emplace(found->second, std::this_thread::get_id());
    if (!first && user->second != std::this_thread::get_id()) Fault("a stream is shared");
    unfinished_.insert(found->second);
  }
  // Says that the calling thread has given its stream back; its work must have been waited for.
  void Gone(int64_t stream) {
    absl::MutexLock lock(&mu_);
    if (unfinished_.count(stream) > 0) Fault("a stream went back with work on it");
    users_.erase(stream);
    current_.erase(std::this_thread::get_id());
  }
  void Break(int64_t stream) {
    absl::MutexLock lock(&mu_);
    broken_.insert(stream);
  }

  std::vector<std::string> faults() const {
    absl::MutexLock lock(&mu_);
    return faults_;
  }
  std::vector<int64_t> waits() const {
    absl::MutexLock lock(&mu_);
    return waits_;
  }

 private:
  void Fault(const std::string& what) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    faults_.push_back(what);
  }

  const int64_t pool_;
  mutable absl::Mutex mu_;
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<std::thread::id, int64_t> current_ ABSL_GUARDED_BY(mu_);
  std::map<int64_t, std::thread::id> users_ ABSL_GUARDED_BY(mu_);
  std::set<int64_t> unfinished_ ABSL_GUARDED_BY(mu_);
  std::set<int64_t> broken_ ABSL_GUARDED_BY(mu_);
  std::vector<int64_t> waits_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> faults_ ABSL_GUARDED_BY(mu_);
};

}  // namespace mpsd
