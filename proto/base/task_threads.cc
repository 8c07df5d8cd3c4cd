#include "proto/base/task_threads.h"

#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {

TaskThreads::~TaskThreads() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(waiting_count_ == 0);
    stopping_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void TaskThreads::Start(std::string name, uint32_t most) {
  MPSD_CHECK(most_ == 0 && most > 0);
  name_ = std::move(name);
  most_ = most;
  absl::MutexLock lock(&mu_);
  StartOne();
}

void TaskThreads::StartOne() {
  threads_.emplace_back([this, name = absl::StrCat(name_, "-", threads_.size())] {
    platform::NameThread(name.c_str());
    Main();
  });
}

void TaskThreads::Enqueue(uint32_t tenant, std::function<void()> task) {
  MPSD_CHECK(tenant < kMaxTenants);
  pending_.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mu_);
  waiting_[tenant].push_back(std::move(task));
  ++waiting_count_;
  if (waiting_count_ <= idle_count_ || threads_.size() == most_) return;
  try {
    StartOne();
  } catch (const std::system_error&) {
    // No thread is left, so running ones take the task.
  }
}

std::function<void()> TaskThreads::TakeNext() {
  do {
    last_tenant_ = (last_tenant_ + 1) % kMaxTenants;
  } while (waiting_[last_tenant_].empty());
  std::function<void()> next = std::move(waiting_[last_tenant_].front());
  waiting_[last_tenant_].pop_front();
  --waiting_count_;
  return next;
}

void TaskThreads::Main() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || waiting_count_ > 0;
  };
  for (;;) {
    std::function<void()> next;
    {
      absl::MutexLock lock(&mu_);
      ++idle_count_;
      mu_.Await(absl::Condition(&has_work));
      --idle_count_;
      if (waiting_count_ == 0) return;
      next = TakeNext();
    }
    next();
    pending_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace mpsd
