#include "server/plane/completion_thread.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mpsd {
namespace {

constexpr uint64_t kWakeToken = 0;

// The worker's completions taken so far. The front end itself writes these words, and they are
// atomic.
uint32_t Consumed(WorkerLink& link) {
  uint32_t count = 0;
  for (const LanePort& port : link.ports()) {
    count += port.mailbox->completion_head.load(std::memory_order_relaxed);
  }
  return count;
}

}  // namespace

absl::Status CompletionThread::Start() {
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  wake_ = *std::move(bell);
  poller_ = *std::move(poller);
  if (absl::Status status = poller_.AddReadable(wake_.poll_fd.get(), kWakeToken); !status.ok()) {
    return status;
  }
  thread_ = std::thread([this] { Main(); });
  return absl::OkStatus();
}

void CompletionThread::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  platform::RingBell(wake_.ring_fd.get());
  thread_.join();
}

absl::Status CompletionThread::Watch(std::shared_ptr<WorkerLink> link,
                                     std::function<void()> give_up) {
  absl::MutexLock lock(&mu_);
  const uint64_t token = next_token_++;
  const int fd = link->bell().poll_fd.get();
  links_.insert({token, {std::move(link), std::move(give_up), BellWatch(clock_->NowNs())}});
  const absl::Status status = poller_.AddReadable(fd, token);
  if (!status.ok()) links_.erase(token);
  return status;
}

void CompletionThread::Unwatch(const WorkerLink& link) {
  absl::MutexLock lock(&mu_);
  const auto is_it = [&link](const auto& entry) { return entry.second.link.get() == &link; };
  const auto found = std::find_if(links_.begin(), links_.end(), is_it);
  if (found == links_.end()) return;
  poller_.RemoveReadable(link.bell().poll_fd.get());
  links_.erase(found);
}

void CompletionThread::WakeBy(int64_t when_ns) {
  int64_t known_ns = wake_by_ns_.load();
  while (when_ns < known_ns && !wake_by_ns_.compare_exchange_weak(known_ns, when_ns)) {
  }
  if (when_ns < known_ns && sleeps_) platform::RingBell(wake_.ring_fd.get());
}

void CompletionThread::Main() {
  platform::NameThread("completions");
  plane_->Wake();
  while (!stopping_) {
    Tick();
    if (plane_->Drain() > 0) continue;
    if (plane_->Park()) Wait();
  }
  while (!plane_->Park()) {
  }
}

void CompletionThread::Tick() {
  const int64_t now_ns = clock_->NowNs();
  if (now_ns < std::min(next_tick_ns_, wake_by_ns_.load())) return;
  wake_by_ns_ = INT64_MAX;
  plane_->Tick();
  next_tick_ns_ = now_ns + (plane_->inside() > 0 ? ticks_.busy_ns : ticks_.idle_ns);
}

// Sleeps until a bell rings or a tick is due, and wakes the plane.
void CompletionThread::Wait() {
  sleeps_ = true;
  const int64_t until_ns = std::min(next_tick_ns_, wake_by_ns_.load());
  const std::vector<uint64_t>& tokens =
      poller_.Wait(std::max<int64_t>(0, until_ns - clock_->NowNs()));
  sleeps_ = false;
  tokens.empty() ? plane_->WakeByTimeOut() : static_cast<void>(plane_->Wake());
  for (const uint64_t token : tokens) Clear(token);
}

void CompletionThread::Clear(uint64_t token) {
  if (token == kWakeToken) return platform::ClearBell(wake_.poll_fd.get());
  absl::MutexLock lock(&mu_);
  const auto found = links_.find(token);
  // A ring may come from before Unwatch().
  if (found == links_.end()) return;
  Watched& watched = found->second;
  const int fd = watched.link->bell().poll_fd.get();
  platform::ClearBell(fd);
  if (watched.bell.OnRing(Consumed(*watched.link), clock_->NowNs())) return;
  watched.give_up();
  poller_.RemoveReadable(fd);
  links_.erase(found);
}

}  // namespace mpsd
