#include "server/supervise/exit_reason.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace mpsd {
namespace {

// Wait statuses as Linux and macOS encode them.
int Exited(int code) { return code << 8; }
int Signalled(int signal, bool core = false) { return signal | (core ? 0x80 : 0); }

TEST(DescribeExit, AnExitWhileItServedIsACrash) {
  EXPECT_EQ(DescribeExit(Exited(3)).text, "exit 3");
  EXPECT_EQ(DescribeExit(Exited(3)).end, WorkerEnd::kCrashed);
  EXPECT_EQ(DescribeExit(Exited(0)).text, "exit 0");
  EXPECT_EQ(DescribeExit(Exited(0)).end, WorkerEnd::kCrashed);
}

TEST(DescribeExit, ASignalOfItsOwnDoingIsACrash) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) {
    EXPECT_EQ(DescribeExit(Signalled(signal)).end, WorkerEnd::kCrashed) << signal;
    EXPECT_EQ(DescribeExit(Signalled(signal, /*core=*/true)).end, WorkerEnd::kCrashed) << signal;
  }
  EXPECT_EQ(DescribeExit(Signalled(SIGSEGV, true)).text, "signal 11 (SIGSEGV)");
}

TEST(DescribeExit, ASignalFromOutsideSaysNothing) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    EXPECT_EQ(DescribeExit(Signalled(signal)).end, WorkerEnd::kKilled) << signal;
  }
  EXPECT_EQ(DescribeExit(Signalled(SIGKILL)).text, "signal 9 (SIGKILL)");
}

}  // namespace
}  // namespace mpsd
