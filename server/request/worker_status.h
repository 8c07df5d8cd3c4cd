// WorkerStatusSource: the state of the workers, for operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/worker_runtime.h"

namespace mpsd {

struct ServedModel;

// One worker of a model for operators: a serving process, or the place of one that has died and
// comes again.
struct WorkerInfo {
  uint32_t index = 0;  // its place in the generation, whichever process fills it
  int64_t pid = 0;     // 0: no process
  uint32_t epoch = 0;  // number of its incarnation
  std::string state;   // WorkerStateName(): "loading", "serving", …; or "failed", for good
  uint32_t lanes = 0;
  std::string device;     // the process's, by its word; until then as ordered
  WorkerRuntime runtime;  // the current or last process's
  uint64_t resident_bytes = 0;
  double cpu_seconds = 0;     // processor time of the current process
  double slowness = 1;        // its batches' time as a multiple of the others'; 1: not slow
  uint64_t restarts = 0;      // starts of a process after the first
  int64_t uptime_ms = 0;      // age of the current process
  int64_t starts_in_ms = -1;  // while it waits to start; -1: not waiting, or unknown
  std::string last_exit;      // how the previous epoch ended
  std::string exit_reason;    // the same in one word
  std::string warning;        // for a worker that serves less well than it could
  std::string last_words;     // why it does not serve: its failure, or its last line
  std::vector<std::string>
      last_lines;  // that all its epochs wrote, kWorkerLinesKept at most; the oldest first
};

// Workers of another generation of the same model and version, which is starting or still has
// requests inside.
struct OtherGeneration {
  std::string state;  // "loading", "draining"
  std::vector<WorkerInfo> workers;
};

// The workers' devices, in the form of DeviceListText(). Pure.
std::string DevicesOf(absl::Span<const WorkerInfo> workers);

// Facts about workers of a moment ago: a board that the supervisor's thread writes and any thread
// reads, so that a caller never waits for a worker. Texts from a worker are printable, but may name
// files and addresses: they are for operators. Values are copies. A generation that the board does
// not know has no workers and no circuit. Never blocks longer than a copy takes. Implemented by
// supervise/, used by control/. Thread-safe.
class WorkerStatusSource {
 public:
  virtual ~WorkerStatusSource() = default;

  // This generation's workers, sorted by index.
  virtual std::vector<WorkerInfo> Workers(const ServedModel& model) const = 0;

  // Whether the model rests after too many deaths: "closed" (it does not), "open" or "probing";
  // empty for a model without a supervisor.
  virtual std::string Circuit(const ServedModel& model) const = 0;

  // Other generations of the same model and version; empty unless it is being replaced.
  virtual std::vector<OtherGeneration> Others(const ServedModel& model) const = 0;
};

}  // namespace mpsd
