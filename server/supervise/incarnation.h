// Incarnation: one process of a SupervisedWorker, and what is known of it.
//
// A worker outlives its processes; everything that must not pass from one process to the next
// stands here and goes with it: sockets, memory, budgets, the reasons for its end. The rest, such
// as the number of deaths in a row and the last lines that the process wrote, is a member of
// SupervisedWorker.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/base/rate_limit.h"
#include "server/lanes/worker_link.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/exit_reason.h"
#include "server/supervise/process/worker_process.h"

namespace mpsd {

// How often the control socket of one worker is read; a worker that makes it necessary to read more
// is killed. A message takes two reads, and one read takes 16 KiB at most: a quarter of this is
// more than an honest worker ever has to say.
inline constexpr uint32_t kControlReadsPerSecond = 512;
// How often what one worker writes to stdout and stderr is read. Each takes 4 KiB. A worker that
// writes more waits, like any process whose pipe is full: a library that talks too much is no
// reason to kill it.
inline constexpr uint32_t kOutputReadsPerSecond = 256;

// Where a process stands with the weights that its model's workers share: it waits for those of
// another, or was asked for its answer.
enum class WeightsStep { kNone, kWaits, kAsked };

// Made when a process was spawned, destroyed once it was reaped; owned by its SupervisedWorker, and
// without behaviour of its own. Lives on the supervisor's thread.
//
// Two ends are told apart by what is set: an end that the front end wanted has a `verdict`; one
// that the worker announced has `said_failure`. DescribeExit() makes one reason of them and of the
// wait status.
struct Incarnation {
  Incarnation(std::unique_ptr<WorkerProcess> its_process, int64_t now_ns, int64_t own_ns)
      : process(std::move(its_process)),
        control_reads(kControlReadsPerSecond, now_ns),
        output_reads(kOutputReadsPerSecond, now_ns),
        phase_since_own_ns(own_ns) {}

  const std::unique_ptr<WorkerProcess> process;
  std::shared_ptr<WorkerLink> link;  // null until the worker has its memory
  RateLimit control_reads;
  RateLimit output_reads;
  int64_t phase_since_own_ns;  // when its state began, in OwnTime

  bool loaded = false;        // it has reported what it loaded
  uint64_t weight_bytes = 0;  // that it could share, as it reported
  WeightsStep weights = WeightsStep::kNone;
  bool ready = false;                  // its lanes are warm
  bool said_failure = false;           // it sent a Failure
  bool failure_lasts = false;          // the next process would fail alike
  bool send_failed = false;            // at the last try to send what is queued for it
  bool exited = false;                 // its exit was reported, and it could not be reaped yet
  int64_t kill_at_ns = INT64_MAX;      // finite while it should leave by itself; the clock's time
  bool was_stopped = false;            // by a SIGSTOP from outside, when it was killed
  std::optional<ExitVerdict> verdict;  // why the front end ended it

  // While it serves: what the pool saw of it at the last tick.
  std::vector<LaneWatch> lanes;
  uint64_t requests = 0;   // answered
  bool is_silent = false;  // one of its lanes is (IsSilent)
  bool answers = false;    // it has answered a request between the last two ticks
};

}  // namespace mpsd
