#include "server/supervise/process/exit_reason.h"

#include <signal.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"
#include "proto/link/messages.h"

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

bool IsOutside(int signal) { return signal == SIGKILL || signal == SIGTERM || signal == SIGINT; }

std::string StatusText(int wait_status) {
  if (WIFEXITED(wait_status)) return absl::StrCat("exit ", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return absl::StrCat("signal ", signal, " (", SignalName(signal), ")");
}

WorkerExit ExitOf(const ExitFacts& facts) {
  if (WIFSIGNALED(facts.wait_status)) {
    const int signal = WTERMSIG(facts.wait_status);
    if (signal == SIGKILL && facts.memory_was_short) return WorkerExit::kOom;
    return IsOutside(signal) ? WorkerExit::kKilled : WorkerExit::kSignal;
  }
  if (WEXITSTATUS(facts.wait_status) == kWorkerExitDeviceLost) return WorkerExit::kDevice;
  return facts.said_failure ? WorkerExit::kLoad : WorkerExit::kExit;
}

bool IsCrash(WorkerExit exit) {
  return exit == WorkerExit::kExit || exit == WorkerExit::kSignal || exit == WorkerExit::kHang;
}

}  // namespace

ExitReason DescribeExit(const ExitFacts& facts) {
  ExitReason reason;
  reason.text = StatusText(facts.wait_status);
  if (facts.verdict.has_value()) {
    reason.exit = facts.verdict->exit;
    reason.text = absl::StrCat(WorkerExitName(reason.exit), ": ", facts.verdict->text);
  } else {
    reason.exit = ExitOf(facts);
    if (reason.exit == WorkerExit::kOom) absl::StrAppend(&reason.text, ", out of memory");
    if (reason.exit == WorkerExit::kDevice) absl::StrAppend(&reason.text, ", device lost");
  }
  const bool stopped = reason.exit == WorkerExit::kHang && facts.was_stopped;
  if (stopped) absl::StrAppend(&reason.text, ", somebody had stopped it");
  reason.end = IsCrash(reason.exit) && !stopped ? WorkerEnd::kCrashed : WorkerEnd::kKilled;
  reason.counts =
      reason.exit != WorkerExit::kKilled && reason.exit != WorkerExit::kAsked && !stopped;
  return reason;
}

}  // namespace mpsd
