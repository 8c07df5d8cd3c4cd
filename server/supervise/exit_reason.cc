#include "server/supervise/exit_reason.h"

#include <signal.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"

namespace mpsd {
namespace {

const char* SignalName(int signal) {
  switch (signal) {
    case SIGABRT:
      return "SIGABRT";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGKILL:
      return "SIGKILL";
    case SIGSEGV:
      return "SIGSEGV";
    case SIGTERM:
      return "SIGTERM";
    default:
      return "other";
  }
}

}  // namespace

ExitReason DescribeExit(int wait_status) {
  if (WIFEXITED(wait_status)) {
    return {absl::StrCat("exit ", WEXITSTATUS(wait_status)), WorkerEnd::kCrashed};
  }
  const int signal = WTERMSIG(wait_status);
  const bool outside = signal == SIGKILL || signal == SIGTERM || signal == SIGINT;
  return {absl::StrCat("signal ", signal, " (", SignalName(signal), ")"),
          outside ? WorkerEnd::kKilled : WorkerEnd::kCrashed};
}

}  // namespace mpsd
