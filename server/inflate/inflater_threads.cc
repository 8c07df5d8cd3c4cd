#include "server/inflate/inflater_threads.h"

#include "absl/strings/str_cat.h"
#include "proto/base/check.h"
#include "proto/base/platform.h"

namespace mpsd {

InflaterThreads::~InflaterThreads() {
  {
    absl::MutexLock lock(&mu_);
    MPSD_CHECK(waiting_.empty());
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void InflaterThreads::Start(uint32_t count) {
  MPSD_CHECK(threads_.empty());
  for (uint32_t i = 0; i < count; ++i) {
    threads_.emplace_back([this, i] {
      platform::NameThread(absl::StrCat("inflate-", i).c_str());
      Main();
    });
  }
}

void InflaterThreads::Enqueue(CompressionJob* job) {
  absl::MutexLock lock(&mu_);
  waiting_.push_back(job);
}

void InflaterThreads::Main() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return stopping_ || !waiting_.empty();
  };
  for (;;) {
    CompressionJob* next = nullptr;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(&has_work));
      if (waiting_.empty()) return;
      next = waiting_.front();
      waiting_.pop_front();
    }
    next->Run();
  }
}

}  // namespace mpsd
