#include "server/thread_room.h"

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "proto/base/platform.h"
#include "server/threads_together.h"

namespace mpsd {

absl::Status CheckThreadRoom(size_t count) {
  const ThreadsTogether threads =
      RunTogether(count, [](const absl::Notification& all_run) { all_run.WaitForNotification(); });
  if (threads.count == count) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("mpsd takes about ", count, " threads, but the system gives no more than ",
                   threads.count, " (", threads.refusal.message(),
                   "): raise the limit of tasks, such as ulimit -u or TasksMax"));
}

size_t ThreadsToServe() { return 32 + 2 * platform::UsableCores(); }

}  // namespace mpsd
