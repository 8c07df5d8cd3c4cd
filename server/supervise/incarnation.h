// Incarnation: one process of a SupervisedWorker, and what is known about it.
//
// Whatever must not pass from one process to the next stands here: sockets, memory, budgets, the
// reasons for its end. The rest belongs to SupervisedWorker, such as the number of deaths in a row
// and the last lines of output.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/base/rate_limit.h"
#include "server/pool/lanes/worker_link.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/exit_reason.h"
#include "server/supervise/process/worker_process.h"

namespace mpsd {

// Reads a second from one worker's control socket; a worker that needs more is killed. A message
// takes two reads, and a read at most 16 KiB: a quarter of this is enough for any honest worker.
inline constexpr uint32_t kControlReadsPerSecond = 512;
// Reads a second, of 4 KiB each, from one worker's stdout and stderr. A worker that writes more
// waits, as with any full pipe: a library that talks too much is no reason to kill it.
inline constexpr uint32_t kOutputReadsPerSecond = 256;

// A process's part in sharing the model's weights: it waits for another worker's, or was asked.
enum class WeightsStep { kNone, kWaits, kAsked };

// Made when a process was spawned, destroyed once it was reaped. Owned by its SupervisedWorker;
// without behaviour of its own. Lives on the supervisor's thread.
//
// An end that the front end wanted has a `verdict`; an end that the worker announced has
// `said_failure`. DescribeExit() makes one reason of these and of the wait status.
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

  bool loaded = false;        // it has sent its LoadReport
  uint64_t weight_bytes = 0;  // weights that it could share, by its report
  WeightsStep weights = WeightsStep::kNone;
  bool ready = false;                  // its lanes are warm
  bool said_failure = false;           // it sent a Failure
  bool failure_lasts = false;          // the next process would fail too
  bool send_failed = false;            // the last try to send its queued messages failed
  bool exited = false;                 // its exit was reported, but it could not be reaped yet
  int64_t kill_at_ns = INT64_MAX;      // by the clock; finite while it should leave by itself
  bool was_stopped = false;            // stopped by a SIGSTOP from outside when it was killed
  std::optional<ExitVerdict> verdict;  // why the front end ended it

  // While it serves: what the pool saw at the last tick.
  std::vector<LaneWatch> lanes;
  uint64_t requests = 0;   // answered
  bool is_silent = false;  // one of its lanes is (IsSilent)
  bool holds_up = false;   // stopped, with requests that could run in another worker
  bool answers = false;    // it has answered a request between the last two ticks
};

}  // namespace mpsd
