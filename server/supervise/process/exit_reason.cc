#include "server/supervise/process/exit_reason.h"

#include <signal.h>
#include <sys/wait.h>

#include "absl/strings/str_cat.h"
#include "proto/link/messages.h"

namespace mpsd {
namespace {

struct KnownSignal {
  int number;
  const char* name;
  bool is_outside;  // no process sends it to itself by a fault of its own
};

// SIGXCPU is outside: its limit counts a process's whole life, and says nothing of the last
// request.
constexpr KnownSignal kKnownSignals[] = {
    {SIGABRT, "SIGABRT", false}, {SIGBUS, "SIGBUS", false},   {SIGFPE, "SIGFPE", false},
    {SIGILL, "SIGILL", false},   {SIGSEGV, "SIGSEGV", false}, {SIGSYS, "SIGSYS", false},
    {SIGTRAP, "SIGTRAP", false}, {SIGHUP, "SIGHUP", true},    {SIGINT, "SIGINT", true},
    {SIGKILL, "SIGKILL", true},  {SIGQUIT, "SIGQUIT", true},  {SIGTERM, "SIGTERM", true},
    {SIGXCPU, "SIGXCPU", true},
};

KnownSignal Find(int signal) {
  for (const KnownSignal& known : kKnownSignals) {
    if (known.number == signal) return known;
  }
  return {signal, "other", false};
}

std::string StatusText(int wait_status) {
  if (WIFEXITED(wait_status)) return absl::StrCat("exit ", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return absl::StrCat("signal ", signal, " (", Find(signal).name, ")");
}

WorkerExit ExitOf(const ExitFacts& facts) {
  if (WIFSIGNALED(facts.wait_status)) {
    const int signal = WTERMSIG(facts.wait_status);
    if (signal == SIGKILL && facts.memory_was_short) return WorkerExit::kOom;
    return Find(signal).is_outside ? WorkerExit::kKilled : WorkerExit::kSignal;
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
