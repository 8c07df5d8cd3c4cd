#include "server/texts/text_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace mpsd {
namespace {

TEST(TextThreads, RunEachTaskOnce) {
  TextThreads threads;
  threads.Start(3);
  std::atomic<int> runs{0};
  absl::BlockingCounter done(100);
  for (int i = 0; i < 100; ++i) {
    threads.Enqueue(0, [&] {
      ++runs;
      done.DecrementCount();
    });
  }
  done.Wait();
  EXPECT_EQ(runs, 100);
}

TEST(TextThreads, TakeTheTenantsInTurn) {
  TextThreads threads;
  threads.Start(1);
  absl::Notification all_wait;
  threads.Enqueue(1, [&] { all_wait.WaitForNotification(); });
  absl::Mutex mu;
  std::string order;
  absl::BlockingCounter done(6);
  const auto task = [&](char name) {
    return [&, name] {
      {
        absl::MutexLock lock(&mu);
        order.push_back(name);
      }
      done.DecrementCount();
    };
  };
  for (const char name : {'a', 'b', 'c'}) threads.Enqueue(1, task(name));
  threads.Enqueue(kMaxTenants - 1, task('x'));
  for (const char name : {'m', 'n'}) threads.Enqueue(0, task(name));
  all_wait.Notify();
  done.Wait();
  absl::MutexLock lock(&mu);
  // Tenant 1 was served before them, so its next task may only come behind those of the others.
  EXPECT_EQ(order, "xmanbc");
}

TEST(TextThreads, ALongTaskHoldsUpNoOther) {
  TextThreads threads;
  threads.Start(2);
  absl::Notification released;
  absl::Notification done;
  threads.Enqueue(0, [&] { released.WaitForNotification(); });
  threads.Enqueue(0, [&] { done.Notify(); });
  done.WaitForNotification();
  EXPECT_GE(threads.pending(), 1u);
  released.Notify();
}

}  // namespace
}  // namespace mpsd
