// A limit of tasks is told before the daemon starts, not by an exception in the middle of it.
#include "server/thread_room.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace mpsd {
namespace {

TEST(ThreadRoom, OnceTheyAreTriedTheThreadsAreFree) {
  EXPECT_TRUE(CheckThreadRoom(8).ok());
  EXPECT_TRUE(CheckThreadRoom(ThreadsToServe()).ok());
}

// In a process of its own, which is nobody's: root has no limit.
[[noreturn]] void TryUnderALimit() {
  const rlimit few{1, 1};
  if (setrlimit(RLIMIT_NPROC, &few) != 0) _exit(2);
  if (getuid() == 0 && setuid(65534) != 0) _exit(3);
  const absl::Status status = CheckThreadRoom(8);
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  _exit(status.code() == absl::StatusCode::kResourceExhausted ? 0 : 1);
}

TEST(ThreadRoomDeathTest, ALimitOfTasksIsToldInWords) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(TryUnderALimit(), testing::ExitedWithCode(0),
              "about 8 threads, but the system gives no more than .*TasksMax");
}

}  // namespace
}  // namespace mpsd
