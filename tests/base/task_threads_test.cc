#include "proto/base/task_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

namespace mpsd {
namespace {

TEST(TaskThreads, RunEachTaskOnce) {
  TaskThreads threads;
  threads.Start("task", 3);
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

TEST(TaskThreads, TakeTheTenantsInTurn) {
  TaskThreads threads;
  threads.Start("task", 1);
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

TEST(TaskThreads, ALongTaskHoldsUpNoOther) {
  TaskThreads threads;
  threads.Start("task", 2);
  absl::Notification released;
  absl::Notification done;
  threads.Enqueue(0, [&] { released.WaitForNotification(); });
  threads.Enqueue(0, [&] { done.Notify(); });
  done.WaitForNotification();
  EXPECT_GE(threads.pending(), 1u);
  released.Notify();
}

TEST(TaskThreads, AFurtherOneStartsWhenNoneIsIdle) {
  TaskThreads threads;
  threads.Start("task", 2);
  absl::Mutex mu;
  std::set<std::thread::id> seen;
  const auto task = [&](absl::BlockingCounter* running, absl::Notification* released) {
    return [&, running, released] {
      {
        absl::MutexLock lock(&mu);
        seen.insert(std::this_thread::get_id());
      }
      running->DecrementCount();
      released->WaitForNotification();
    };
  };
  for (const int at_once : {1, 2}) {
    absl::BlockingCounter running(at_once);
    absl::Notification released;
    for (int i = 0; i < at_once; ++i) threads.Enqueue(0, task(&running, &released));
    running.Wait();
    released.Notify();
    while (threads.pending() > 0) std::this_thread::yield();
    absl::MutexLock lock(&mu);
    EXPECT_EQ(seen.size(), at_once);
  }
}

}  // namespace
}  // namespace mpsd
