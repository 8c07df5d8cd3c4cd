// Incarnation: one process of a SupervisedWorker, and what is known of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proto/base/rate_limit.h"
#include "server/dispatch/worker_link.h"
#include "server/supervise/policy/watchdog_policy.h"
#include "server/supervise/process/exit_reason.h"
#include "server/supervise/process/worker_process.h"

namespace mpsd {

// A message takes two reads, and one read takes 16 KiB at most: a quarter of this is more than an
// honest worker ever has to say.
inline constexpr uint32_t kControlReadsPerSecond = 512;
// Each takes 4 KiB. A worker that writes more waits.
inline constexpr uint32_t kOutputReadsPerSecond = 256;

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

  bool ready = false;                  // its lanes are warm
  bool said_failure = false;           // it sent a Failure
  bool send_failed = false;            // at the last try to send what is queued for it
  int64_t kill_at_ns = INT64_MAX;      // finite while it should leave by itself
  bool was_stopped = false;            // by a SIGSTOP from outside, when it was killed
  std::optional<ExitVerdict> verdict;  // why the front end ended it

  // While it serves.
  std::vector<LaneWatch> lanes;
  uint64_t requests = 0;  // answered
  bool answers = false;   // it has answered a request between the last two ticks
};

}  // namespace mpsd
