#include "server/signals.h"

#include <pthread.h>

#include <utility>

#include "proto/base/platform.h"

namespace mpsd {

SignalWaiter::SignalWaiter() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // while SIGCHLD is ignored the kernel reaps the workers
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  thread_ = std::thread([this] { Main(); });
}

SignalWaiter::~SignalWaiter() {
  {
    absl::MutexLock lock(&mu_);
    done_ = true;
  }
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

int SignalWaiter::requests() const {
  absl::MutexLock lock(&mu_);
  return requests_;
}

SignalWaiter::News SignalWaiter::news() const {
  absl::MutexLock lock(&mu_);
  return news_;
}

void SignalWaiter::WaitForNews(News seen, absl::Duration limit) const {
  absl::MutexLock lock(&mu_);
  const auto news = [this, seen]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return requests_ > 0 || news_ != seen;
  };
  mu_.AwaitWithTimeout(absl::Condition(&news), limit);
}

bool SignalWaiter::WaitFor(int requests, absl::Duration limit) const {
  absl::MutexLock lock(&mu_);
  const auto enough = [this, requests]()
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return requests_ >= requests; };
  return mu_.AwaitWithTimeout(absl::Condition(&enough), limit);
}

void SignalWaiter::OnReopen(std::function<void()> reopen) const {
  absl::MutexLock lock(&reopen_mu_);
  reopen_ = std::move(reopen);
}

void SignalWaiter::Main() {
  platform::NameThread("signals");
  for (;;) {
    int signal = 0;
    sigwait(&signals_, &signal);
    if (signal == SIGUSR1) {
      absl::MutexLock lock(&reopen_mu_);
      if (reopen_) reopen_();
      continue;
    }
    absl::MutexLock lock(&mu_);
    if (done_) return;
    if (signal == SIGHUP) ++news_.hangups;
    if (signal == SIGUSR2) ++news_.handovers;
    if (signal == SIGTERM || signal == SIGINT) ++requests_;
  }
}

}  // namespace mpsd
