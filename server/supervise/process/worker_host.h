// WorkerHost: where workers run; spawns their processes and reports what happens to them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/link/model_format.h"
#include "server/supervise/process/worker_process.h"

namespace mpsd {

// What a worker is started with; everything else comes over its link. A value.
struct WorkerProcessOptions {
  std::string model;     // names the worker's temporary folder
  uint32_t worker = 0;   // its index in the model
  uint32_t threads = 1;  // of the BLAS and OpenMP libraries, for each lane
  ModelFormat format = ModelFormat::kTorchScript;
};

// Everything that supervision needs of the operating system: processes, the wait for their events,
// and the host's memory. Owned by the supervisor; tests put a fake in its place. Beside the
// request's path, never on it. Lives on the supervisor's thread, with two exceptions: Open() is
// called before that thread runs, and Wake() is thread-safe.
//
//   Open ─▶ Spawn … ─▶ Wait ─▶ tokens of processes: first_token + a WorkerEvent
//                  ╰◀───╯
//
// A host knows processes and nothing else: which worker should run, and what the end of one means,
// is the supervisor's to decide.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  // Makes what Wait() needs. Called once, before every other method but Wake().
  virtual absl::Status Open() = 0;

  // Starts a worker process. From now on Wait() reports its events. REQUIRES: `first_token` > 0 and
  // no living process has a token of the three. Does not wait for the worker to run.
  virtual absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                               uint64_t first_token) = 0;

  // Blocks until an event, a Wake() or `timeout_ns`, and returns the tokens of the events; none
  // after the other two. An event is reported again while its cause lasts. A token may be reported
  // once more after its process was destroyed.
  virtual std::vector<uint64_t> Wait(int64_t timeout_ns) = 0;

  // Ends the current Wait(), or else the next one. Does nothing before Open().
  virtual void Wake() = 0;

  // Processes that the kernel has killed for want of memory, as a count that only grows; 0 where
  // the kernel tells nobody.
  virtual uint64_t OutOfMemoryKills() const = 0;

  // Memory that this process and its children can still take.
  virtual uint64_t AvailableMemoryBytes() const = 0;
};

}  // namespace mpsd
