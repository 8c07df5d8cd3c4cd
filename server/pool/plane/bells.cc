#include "server/pool/plane/bells.h"

#include <algorithm>
#include <utility>

namespace mpsd {
namespace {

// An ear has no other token of this value.
constexpr uint64_t kBellsToken = UINT64_MAX;

// The worker's completions taken so far: the front end's own words, and atomic.
uint32_t Consumed(WorkerLink& link) {
  uint32_t count = 0;
  for (const LanePort& port : link.ports()) {
    count += port.mailbox->completion_head.load(std::memory_order_relaxed);
  }
  return count;
}

}  // namespace

Bells::Bells(const Clock* clock) : clock_(clock), rung_(platform::Poller::Create()) {}

void Bells::HearBy(platform::Poller* ear) {
  if (ear_.load(std::memory_order_relaxed) == ear) return;
  absl::MutexLock lock(&mu_);
  if (first_ == nullptr) first_ = ear;
  MoveTo(ear);
}

void Bells::Leave(platform::Poller* ear) {
  absl::MutexLock lock(&mu_);
  if (ear_ == ear) MoveTo(first_);
}

void Bells::MoveTo(platform::Poller* ear) {
  if (!rung_.ok() || !ear->AddReadable(rung_->fd(), kBellsToken).ok()) return;
  if (platform::Poller* const before = ear_.exchange(ear); before != nullptr) {
    before->RemoveReadable(rung_->fd());
  }
}

void Bells::Clear() {
  const std::vector<uint64_t> tokens = rung_->Wait(0);
  absl::MutexLock lock(&mu_);
  for (const uint64_t token : tokens) ClearOne(token);
}

absl::Status Bells::Watch(std::shared_ptr<WorkerLink> link, std::function<void()> give_up) {
  absl::MutexLock lock(&mu_);
  const uint64_t token = next_token_++;
  const int fd = link->bell().poll_fd.get();
  links_.insert({token, {std::move(link), std::move(give_up), BellWatch(clock_->NowNs())}});
  const absl::Status status = rung_->AddReadable(fd, token);
  if (!status.ok()) links_.erase(token);
  return status;
}

void Bells::Unwatch(const WorkerLink& link) {
  absl::MutexLock lock(&mu_);
  const auto is_it = [&link](const auto& entry) { return entry.second.link.get() == &link; };
  const auto found = std::find_if(links_.begin(), links_.end(), is_it);
  if (found == links_.end()) return;
  rung_->RemoveReadable(link.bell().poll_fd.get());
  links_.erase(found);
}

void Bells::ClearOne(uint64_t token) {
  const auto found = links_.find(token);
  // A ring may come from before Unwatch().
  if (found == links_.end()) return;
  Watched& watched = found->second;
  const int fd = watched.link->bell().poll_fd.get();
  platform::ClearBell(fd);
  if (watched.bell.OnRing(Consumed(*watched.link), clock_->NowNs())) return;
  watched.give_up();
  rung_->RemoveReadable(fd);
  links_.erase(found);
}

}  // namespace mpsd
