#include "server/pool/plane/completion_thread.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mpsd {
namespace {

constexpr uint64_t kWakeToken = 0;
constexpr int64_t kLookNs = 100 * kNsPerMs;

}  // namespace

absl::Status CompletionThread::Start() {
  if (absl::Status status = plane_->bells().status(); !status.ok()) return status;
  absl::StatusOr<platform::Bell> bell = platform::CreateBell();
  if (!bell.ok()) return bell.status();
  absl::StatusOr<platform::Poller> poller = platform::Poller::Create();
  if (!poller.ok()) return poller.status();
  wake_ = *std::move(bell);
  poller_ = *std::move(poller);
  if (absl::Status status = poller_.AddReadable(wake_.poll_fd.get(), kWakeToken); !status.ok()) {
    return status;
  }
  plane_->bells().HearBy(&poller_);
  thread_ = std::thread([this] { Main(); });
  return absl::OkStatus();
}

void CompletionThread::Stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  platform::RingBell(wake_.ring_fd.get());
  thread_.join();
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
  if (now_ns >= next_look_ns_) {
    plane_->SetCoresAreLeft(platform::CoresAreLeft());
    next_look_ns_ = now_ns + kLookNs;
  }
  next_tick_ns_ = now_ns + (plane_->inside() > 0 ? ticks_.busy_ns : ticks_.idle_ns);
}

// Sleeps until a bell rings or a tick is due, and wakes the plane.
void CompletionThread::Wait() {
  sleeps_ = true;
  const int64_t until_ns = std::min(next_tick_ns_, wake_by_ns_.load());
  const std::vector<uint64_t> tokens =
      poller_.Wait(std::max<int64_t>(0, until_ns - clock_->NowNs()));
  sleeps_ = false;
  if (tokens.empty()) return plane_->WakeByTimeOut();
  plane_->Wake();
  plane_->bells().Clear();
  platform::ClearBell(wake_.poll_fd.get());
}

}  // namespace mpsd
