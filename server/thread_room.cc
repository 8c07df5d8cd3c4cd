#include "server/thread_room.h"

#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "proto/base/platform.h"

namespace mpsd {

absl::Status CheckThreadRoom(size_t count) {
  absl::Notification all_run;
  std::vector<std::thread> threads;
  threads.reserve(count);
  absl::Status status;
  try {
    while (threads.size() < count) {
      threads.emplace_back([&all_run] { all_run.WaitForNotification(); });
    }
  } catch (const std::system_error& error) {
    status = absl::ResourceExhaustedError(
        absl::StrCat("mpsd takes about ", count, " threads, but the system gives no more than ",
                     threads.size(), " (", error.code().message(),
                     "): raise the limit of tasks, such as ulimit -u or TasksMax"));
  }
  all_run.Notify();
  for (std::thread& thread : threads) thread.join();
  return status;
}

size_t ThreadsToServe() { return 32 + 2 * platform::UsableCores(); }

}  // namespace mpsd
