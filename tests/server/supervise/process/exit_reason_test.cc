#include "server/supervise/process/exit_reason.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "proto/link/messages.h"

namespace mpsd {
namespace {

// Wait statuses as Linux and macOS encode them.
int Exited(int code) { return code << 8; }
int Signalled(int signal, bool core = false) { return signal | (core ? 0x80 : 0); }

ExitReason Describe(int wait_status) {
  ExitFacts facts;
  facts.wait_status = wait_status;
  return DescribeExit(facts);
}

TEST(DescribeExit, AnExitWhileItServedIsACrash) {
  for (const int code : {0, 1, 3}) {
    const ExitReason reason = Describe(Exited(code));
    EXPECT_EQ(reason.text, "exit " + std::to_string(code));
    EXPECT_EQ(reason.exit, WorkerExit::kExit);
    EXPECT_EQ(reason.end, WorkerEnd::kCrashed);
    EXPECT_TRUE(reason.counts);
  }
}

TEST(DescribeExit, ASignalOfItsOwnDoingIsACrash) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTRAP}) {
    for (const bool core : {false, true}) {
      const ExitReason reason = Describe(Signalled(signal, core));
      EXPECT_EQ(reason.end, WorkerEnd::kCrashed) << signal;
      EXPECT_EQ(reason.exit, WorkerExit::kSignal) << signal;
      EXPECT_TRUE(reason.counts);
    }
  }
  EXPECT_EQ(Describe(Signalled(SIGSEGV, true)).text, "signal 11 (SIGSEGV)");
}

TEST(DescribeExit, ASignalFromOutsideSaysNothing) {
  for (const int signal : {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) {
    const ExitReason reason = Describe(Signalled(signal));
    EXPECT_EQ(reason.end, WorkerEnd::kKilled) << signal;
    EXPECT_EQ(reason.exit, WorkerExit::kKilled) << signal;
    EXPECT_FALSE(reason.counts);
  }
  EXPECT_EQ(Describe(Signalled(SIGKILL)).text, "signal 9 (SIGKILL)");
  EXPECT_EQ(Describe(Signalled(SIGXCPU, true)).text,
            "signal " + std::to_string(SIGXCPU) + " (SIGXCPU)");
}

TEST(DescribeExit, TheKernelsKillForWantOfMemory) {
  ExitFacts facts;
  facts.wait_status = Signalled(SIGKILL);
  facts.memory_was_short = true;
  EXPECT_EQ(DescribeExit(facts).exit, WorkerExit::kOom);
  EXPECT_EQ(DescribeExit(facts).end, WorkerEnd::kKilled) << "which request it was nobody knows";
  EXPECT_TRUE(DescribeExit(facts).counts);
  facts.wait_status = Signalled(SIGSEGV);
  EXPECT_EQ(DescribeExit(facts).exit, WorkerExit::kSignal) << "that was no kill";
}

TEST(DescribeExit, WhatWeKilledForIsTheReasonWhateverTheStatus) {
  ExitFacts facts;
  facts.wait_status = Signalled(SIGKILL);
  facts.memory_was_short = true;
  facts.verdict = {WorkerExit::kHang, "lane 0 made no progress for 30s"};
  ExitReason reason = DescribeExit(facts);
  EXPECT_EQ(reason.exit, WorkerExit::kHang);
  EXPECT_EQ(reason.text, "hang: lane 0 made no progress for 30s");
  EXPECT_EQ(reason.end, WorkerEnd::kCrashed) << "what it ran made it hang";
  EXPECT_TRUE(reason.counts);
  facts.verdict = {WorkerExit::kProtocol, "it lies"};
  EXPECT_EQ(DescribeExit(facts).end, WorkerEnd::kKilled) << "its requests are innocent";
  EXPECT_TRUE(DescribeExit(facts).counts);
  facts.wait_status = Exited(0);
  facts.verdict = {WorkerExit::kAsked, "it is not needed any more"};
  EXPECT_EQ(DescribeExit(facts).end, WorkerEnd::kKilled);
  EXPECT_FALSE(DescribeExit(facts).counts);
}

// It made no progress, and could not: neither the model nor what it ran is at fault.
TEST(DescribeExit, AHangOfAProcessThatSomebodyStopped) {
  ExitFacts facts;
  facts.wait_status = Signalled(SIGKILL);
  facts.verdict = {WorkerExit::kHang, "lane 0 made no progress for 30s"};
  facts.was_stopped = true;
  const ExitReason reason = DescribeExit(facts);
  EXPECT_EQ(reason.exit, WorkerExit::kHang);
  EXPECT_EQ(reason.end, WorkerEnd::kKilled);
  EXPECT_FALSE(reason.counts);
  facts.verdict->exit = WorkerExit::kProtocol;
  EXPECT_TRUE(DescribeExit(facts).counts);
}

TEST(DescribeExit, TheWorkersOwnWords) {
  ExitFacts facts;
  facts.wait_status = Exited(3);
  facts.said_failure = true;
  EXPECT_EQ(DescribeExit(facts).exit, WorkerExit::kLoad);
  EXPECT_EQ(DescribeExit(facts).end, WorkerEnd::kKilled);
  const ExitReason lost = Describe(Exited(kWorkerExitDeviceLost));
  EXPECT_EQ(lost.exit, WorkerExit::kDevice);
  EXPECT_EQ(lost.text, "exit 5, device lost");
  EXPECT_EQ(lost.end, WorkerEnd::kKilled);
}

}  // namespace
}  // namespace mpsd
