// Incarnation: one process of a SupervisedWorker.
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

// Reads from one worker's control socket; a worker that needs more is killed. A read takes at most
// 16 KiB, a message two reads: an honest worker needs a quarter of this.
inline constexpr uint32_t kControlReadsPerSecond = 512;
// A read takes 4 KiB of one worker's stdout and stderr. A worker that writes more waits, as with
// any full pipe.
inline constexpr uint32_t kOutputReadsPerSecond = 256;

// Its part in sharing the model's weights: it waits for another worker's, or was asked.
enum class WeightsStep { kNone, kWaits, kAsked };

// Holds what must not pass from one process to the next: sockets, memory, budgets, the reasons for
// its end. Made at the spawn, destroyed once the process is reaped; owned by its SupervisedWorker.
// Lives on the supervisor's thread.
//
// A `verdict` explains an end that the front end wanted, `said_failure` an announced one.
// DescribeExit() makes one reason of these and the wait status.
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
  int64_t phase_since_own_ns;  // in OwnTime

  bool loaded = false;
  uint64_t weight_bytes = 0;  // weights that it could share, by its report
  WeightsStep weights = WeightsStep::kNone;
  bool ready = false;
  bool said_failure = false;
  bool failure_lasts = false;      // the next process would fail too
  bool send_failed = false;        // it could not take the queued messages
  bool exited = false;             // its exit was reported, but it could not be reaped yet
  int64_t kill_at_ns = INT64_MAX;  // finite while it should leave by itself
  bool was_stopped = false;        // by a SIGSTOP from outside when it was killed
  std::optional<ExitVerdict> verdict;

  // While it serves, by the last tick.
  std::vector<LaneWatch> lanes;
  uint64_t requests = 0;   // answered
  bool is_silent = false;  // one of its lanes is silent (IsSilent)
  bool holds_up = false;   // stopped, with requests that could run elsewhere
  bool answers = false;    // it has answered a request between the last two ticks
};

}  // namespace mpsd
