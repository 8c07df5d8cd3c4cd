// WorkerStatusSource: tells operators how the workers are doing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "proto/link/worker_runtime.h"

namespace mpsd {

struct ServedModel;

// One worker of a model, as operators see it: a process that serves, or the place of one that has
// died and comes again.
struct WorkerInfo {
  uint32_t index = 0;  // among the workers of its generation; its place, whichever process fills it
  int64_t pid = 0;     // 0: no process
  uint32_t epoch = 0;  // the number of its incarnation
  std::string state;   // WorkerStateName(): "loading", "serving", …; or "failed", for good
  uint32_t lanes = 0;
  std::string device;     // of the process, as it says; as it is ordered, before it has said so
  WorkerRuntime runtime;  // of the process, or of the last one
  uint64_t resident_bytes = 0;
  double slowness = 1;        // how many times as long as the others its batches take; 1: not slow
  uint64_t restarts = 0;      // starts of a process after the first
  int64_t uptime_ms = 0;      // of the process
  int64_t starts_in_ms = -1;  // while it waits to start; -1: it does not wait, or it is unknown
  std::string last_exit;      // how the previous epoch ended
  std::string exit_reason;    // the same in one word
  std::string warning;        // of a worker that serves, though not as well as it could
  std::string last_words;     // why it does not serve: its failure, or the last line it wrote
  std::vector<std::string>
      last_lines;  // that all its epochs wrote, kWorkerLinesKept at most; the oldest first
};

// The workers of another generation of the same model and version: of one that is made, or of one
// that still has requests inside.
struct OtherGeneration {
  std::string state;  // "loading", "draining"
  std::vector<WorkerInfo> workers;
};

// The devices that the workers are on, as DeviceListText() writes them. Pure.
std::string DevicesOf(absl::Span<const WorkerInfo> workers);

// Answers about workers, as they were a moment ago: a board that the supervisor's thread writes and
// any thread reads, so that a caller never waits for a worker. All texts that come from a worker
// are made printable, but they may name files and addresses: they are for operators. Values are
// copied out. A generation that the board does not know, or not yet, has no workers and no circuit.
// Never blocks longer than a copy takes. Implemented by supervise/, asked by control/. Thread-safe.
class WorkerStatusSource {
 public:
  virtual ~WorkerStatusSource() = default;

  // The workers of this generation, in the order of their indexes.
  virtual std::vector<WorkerInfo> Workers(const ServedModel& model) const = 0;

  // Whether the model rests after too many deaths: "closed" (it does not), "open" or "probing";
  // empty for a model that has no supervisor.
  virtual std::string Circuit(const ServedModel& model) const = 0;

  // The other generations of the same model and version; empty unless it is being replaced.
  virtual std::vector<OtherGeneration> Others(const ServedModel& model) const = 0;
};

}  // namespace mpsd
