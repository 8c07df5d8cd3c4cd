#include "worker/model/torch/stream_set.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"

namespace mpsd {

StreamLease::StreamLease(StreamLease&& other) noexcept
    : set_(std::exchange(other.set_, nullptr)), stream_(other.stream_) {}

StreamLease& StreamLease::operator=(StreamLease&& other) noexcept {
  if (this == &other) return *this;
  Release();
  set_ = std::exchange(other.set_, nullptr);
  stream_ = other.stream_;
  return *this;
}

void StreamLease::Release() {
  if (set_ != nullptr) std::exchange(set_, nullptr)->Return(stream_);
}

StreamSet::StreamSet(StreamDevice* device, uint32_t stream_count, StreamExhaustion exhaustion)
    : device_(device), stream_count_(stream_count), exhaustion_(exhaustion) {}

void StreamSet::InitializeMainThread() {
  absl::MutexLock lock(&mu_);
  MPSD_CHECK(!initialized_);
  main_stream_ = device_->MainStream();
  device_->MakeCurrent(main_stream_);
  initialized_ = true;
}

bool StreamSet::IsLeased(int64_t stream) const {
  return std::find(leased_.begin(), leased_.end(), stream) != leased_.end();
}

absl::Status StreamSet::Exhausted() const {
  const auto others = leased_.size() - (IsLeased(main_stream_) ? 1 : 0);
  return absl::ResourceExhaustedError(
      absl::StrCat("no device stream is free: ", others, " of ", stream_count_, " are leased"));
}

// Waits if `exhaustion` says so; returns whether a lease may be given now.
bool StreamSet::WaitForRoom() {
  const auto has_room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return leased_.size() < stream_count_ + (IsLeased(main_stream_) ? 1 : 0);
  };
  switch (exhaustion_.action) {
    case StreamExhaustion::kError:
      return has_room();
    case StreamExhaustion::kWait:
      mu_.Await(absl::Condition(&has_room));
      return true;
    case StreamExhaustion::kWaitLimited:
      return mu_.AwaitWithTimeout(absl::Condition(&has_room),
                                  absl::Nanoseconds(exhaustion_.wait_ns));
  }
  return false;
}

absl::StatusOr<StreamLease> StreamSet::Take(int64_t stream) {
  leased_.push_back(stream);
  device_->MakeCurrent(stream);
  return StreamLease(this, stream);
}

absl::StatusOr<StreamLease> StreamSet::Acquire() {
  absl::MutexLock lock(&mu_);
  if (!initialized_) {
    return absl::FailedPreconditionError("a lane asks for a stream before the main thread did");
  }
  if (!WaitForRoom()) return Exhausted();
  // The ring knows nothing of leases. A runtime with fewer streams than it claims repeats the same
  // ones.
  for (uint32_t i = 0; i <= stream_count_; ++i) {
    const int64_t stream = device_->NextStream();
    if (stream != main_stream_ && !IsLeased(stream)) return Take(stream);
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("this device's runtime gives ", leased_.size(),
                   " lanes a stream of their own and no more; set placement.lanes to fewer"));
}

absl::StatusOr<StreamLease> StreamSet::AcquireMain() {
  absl::MutexLock lock(&mu_);
  if (!initialized_) {
    return absl::FailedPreconditionError("a lane asks for a stream before the main thread did");
  }
  if (IsLeased(main_stream_)) return absl::ResourceExhaustedError("the main stream is leased");
  return Take(main_stream_);
}

void StreamSet::Return(int64_t stream) {
  const absl::Status status = device_->Synchronize(stream);
  if (!status.ok()) {
    std::fprintf(stderr, "a stream is lost: %s\n", std::string(status.message()).c_str());
    return;
  }
  absl::MutexLock lock(&mu_);
  const auto found = std::find(leased_.begin(), leased_.end(), stream);
  MPSD_CHECK(found != leased_.end());
  leased_.erase(found);
}

uint32_t StreamSet::leased() const {
  absl::MutexLock lock(&mu_);
  return static_cast<uint32_t>(leased_.size());
}

}  // namespace mpsd
