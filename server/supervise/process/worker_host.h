// WorkerHost: spawns workers and reports their events.
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

// The rest comes over the worker's link. A value.
struct WorkerProcessOptions {
  std::string model;     // for the temporary folder's name
  uint32_t worker = 0;   // its index in the model
  uint32_t threads = 1;  // BLAS and OpenMP threads for each lane
  ModelFormat format = ModelFormat::kTorchScript;
};

// Supervision's view of the operating system. It decides nothing. Owned by the supervisor; tests
// use a fake. Lives on the supervisor's thread, except that Open() comes before, and Wake() is
// thread-safe.
//
//   Open ─▶ Spawn … ─▶ Wait ─▶ tokens of processes: first_token + a WorkerEvent
//                  ╰◀───╯
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  // Called once, before all methods but Wake().
  virtual absl::Status Open() = 0;

  // Does not wait for the process to run. REQUIRES: `first_token` > 0, and no living process has
  // one of its three tokens.
  virtual absl::StatusOr<std::unique_ptr<WorkerProcess>> Spawn(const WorkerProcessOptions& options,
                                                               uint64_t first_token) = 0;

  // Blocks until an event, a Wake() or `timeout_ns`; returns the events' tokens. An event is
  // reported while its cause lasts, and perhaps once after its process was destroyed.
  virtual std::vector<uint64_t> Wait(int64_t timeout_ns) = 0;

  // Ends the current or the next Wait(). Does nothing before Open().
  virtual void Wake() = 0;

  // The kernel's count of kills for lack of memory; it only grows. 0 if the kernel has none.
  virtual uint64_t OutOfMemoryKills() const = 0;

  // Bytes that this process and its children can still take.
  virtual uint64_t AvailableMemoryBytes() const = 0;
};

}  // namespace mpsd
