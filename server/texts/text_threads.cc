#include "server/texts/text_threads.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {

TextThreads::~TextThreads() {
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(waiting_count_ == 0);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void TextThreads::Start(uint32_t count) {
  MPSD_CHECK(threads_.empty());
  for (uint32_t i = 0; i < count; ++i) {
    threads_.emplace_back([this, i] {
      platform::NameThread(absl::StrCat("texts-", i).c_str());
      Main();
    });
  }
}

void TextThreads::Enqueue(uint32_t tenant, std::function<void()> task) {
  MPSD_CHECK(tenant < kMaxTenants);
  pending_.fetch_add(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mu_);
  waiting_[tenant].push_back(std::move(task));
  ++waiting_count_;
}

std::function<void()> TextThreads::TakeNext() {
  do {
    last_tenant_ = (last_tenant_ + 1) % kMaxTenants;
  } while (waiting_[last_tenant_].empty());
  std::function<void()> next = std::move(waiting_[last_tenant_].front());
  waiting_[last_tenant_].pop_front();
  --waiting_count_;
  return next;
}

void TextThreads::Main() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || waiting_count_ > 0;
  };
  for (;;) {
    std::function<void()> next;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(&has_work));
      if (waiting_count_ == 0) return;
      next = TakeNext();
    }
    next();
    pending_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace mpsd
