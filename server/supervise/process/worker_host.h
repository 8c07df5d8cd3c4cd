// WorkerHost: spawns worker processes and reports their events.
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

// A worker's start options; everything else comes over its link. A value.
struct WorkerProcessOptions {
  std::string model;     // names the worker's temporary folder
  uint32_t worker = 0;   // its index in the model
  uint32_t threads = 1;  // BLAS and OpenMP threads for each lane
  ModelFormat format = ModelFormat::kTorchScript;
};

// Supervision's view of the operating system: processes, their events, and the host's memory. Owned
// by the supervisor; tests use a fake. Beside the request's path, never on it. Lives on the
// supervisor's thread, except that Open() is called before that thread runs, and Wake() is
// thread-safe.
//
//   Open ─▶ Spawn … ─▶ Wait ─▶ tokens of processes: first_token + a WorkerEvent
//                  ╰◀───╯
//
// A host only knows processes. The supervisor decides which worker runs, and what an end means.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  // Prepares Wait(). Called once, before every other method but Wake().
  virtual absl::Status Open() = 0;

  // Starts a worker process without waiting for it to run; Wait() reports its events from now on.
  // REQUIRES: `first_token` > 0, and no living process has one of its three tokens.
  virtual absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                               uint64_t first_token) = 0;

  // Blocks until an event, a Wake() or `timeout_ns`, and returns the tokens of the events, none
  // after the other two. An event is reported again while its cause lasts. A token may be reported
  // once more after its process was destroyed.
  virtual std::vector<uint64_t> Wait(int64_t timeout_ns) = 0;

  // Ends the current Wait(), or else the next one. Does nothing before Open().
  virtual void Wake() = 0;

  // The kernel's count of processes killed for lack of memory; it only grows. 0 if the kernel has
  // no such count.
  virtual uint64_t OutOfMemoryKills() const = 0;

  // Bytes that this process and its children can still take.
  virtual uint64_t AvailableMemoryBytes() const = 0;
};

}  // namespace mpsd
