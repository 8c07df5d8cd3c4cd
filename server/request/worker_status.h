// WorkerStatusSource: the workers, for operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/worker_runtime.h"

namespace mpsd {

struct ServedModel;

// A worker of a model: a process, or the place of one that died and comes again.
struct WorkerInfo {
  uint32_t index = 0;  // its place in the generation
  int64_t pid = 0;     // 0: no process
  uint32_t epoch = 0;
  std::string state;  // WorkerStateName(), or "failed" for good
  uint32_t lanes = 0;
  std::string device;  // by the process's word; until then as ordered
  WorkerRuntime runtime;
  uint64_t resident_bytes = 0;
  double cpu_seconds = 0;     // processor time of the current process
  double slowness = 1;        // its batches' time as a multiple of the others'
  uint64_t restarts = 0;      // after the first start
  int64_t uptime_ms = 0;      // age of the current process
  int64_t starts_in_ms = -1;  // -1: not waiting, or unknown
  std::string last_exit;      // how the previous epoch ended
  std::string exit_reason;    // the same in one word
  std::string warning;        // why it serves less well than it could
  std::string last_words;     // its failure, or its last line
  std::vector<std::string>
      last_lines;  // that all its epochs wrote, kWorkerLinesKept at most; the oldest first
};

// A generation of the same model and version that is starting or draining.
struct OtherGeneration {
  std::string state;  // "loading", "draining"
  std::vector<WorkerInfo> workers;
};

// As DeviceListText(). Pure.
std::string DevicesOf(absl::Span<const WorkerInfo> workers);

// The workers a moment ago, from a board that the supervisor's thread writes: a caller never waits
// for a worker. Workers' texts are printable, may name files and addresses, and are for operators
// alone. An unknown generation has no workers and no circuit. Implemented by supervise/.
// Thread-safe.
class WorkerStatusSource {
 public:
  virtual ~WorkerStatusSource() = default;

  // Sorted by index.
  virtual std::vector<WorkerInfo> Workers(const ServedModel& model) const = 0;

  // "closed", "open" after too many deaths, or "probing"; empty without a supervisor.
  virtual std::string Circuit(const ServedModel& model) const = 0;

  // Empty unless it is being replaced.
  virtual std::vector<OtherGeneration> Others(const ServedModel& model) const = 0;
};

}  // namespace mpsd
