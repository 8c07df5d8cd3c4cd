// Failpoints: named points in the code where a test makes a process die, stop, wait, fail or lie.
//
// Only in test builds: MPSD_FAILPOINTS=ON, and mpsd_failpoints() in cmake/Toolbox.cmake. The
// environment arms them when the process starts:
//
//   MPSD_FAILPOINTS="worker.after_claim=kill@20,dispatch.before_ring=sleep:30%5"
//   MPSD_FAILPOINTS_SEED=7
//
//   name=action[:argument][@hit|%percent]
//
//   kill, stop     raises SIGKILL or SIGSTOP
//   exit[:code]    exits at once, without destructors; the code is 42 unless given
//   sleep:ms       sleeps, then goes on
//   errno:NAME     ENOMEM, EMFILE, EAGAIN, EIO or a number: the operation fails with this errno
//   corrupt        writes random bytes over the data that the failpoint passes
//
// Without @ or % every pass acts. With @ only that pass acts, counted from 1 in each process. With
// % each pass acts with that probability, drawn from the seed. A pass that acts says so on stderr;
// a sleep only the first time. Names of a worker's failpoints begin with "worker.": only these are
// passed on, and each incarnation gets its own seed. MPSD_FAILPOINTS_SPARE=MODEL spares that
// model's workers.
#pragma once

#ifndef MPSD_FAILPOINTS
#error "name this source in mpsd_failpoints() of its folder's CMakeLists.txt"
#endif

#if MPSD_FAILPOINTS

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mpsd {

enum class FailpointAction { kKill, kStop, kExit, kSleep, kErrno, kCorrupt };

struct FailpointAct {
  FailpointAction action = FailpointAction::kKill;
  int64_t argument = 0;  // exit code, milliseconds, errno or random number
  uint64_t pass = 0;     // counted from 1
  bool first = false;    // the entry's first act
};

// A process's armed failpoints. Never destroyed. Thread-safe.
class FailpointTable {
 public:
  // INVALID_ARGUMENT names the bad entry.
  static absl::StatusOr<std::unique_ptr<FailpointTable>> Parse(absl::string_view text,
                                                               uint64_t seed);
  ~FailpointTable();

  // Counts the pass and returns the action due; usually nothing.
  std::optional<FailpointAct> Pass(absl::string_view name);

  static std::string WorkerPart(absl::string_view text);

 private:
  struct Entry;
  explicit FailpointTable(uint64_t seed);

  const uint64_t seed_;
  std::vector<std::unique_ptr<Entry>> entries_;  // constant after Parse(), but for counts
};

// About one byte in eight, at least one.
void CorruptBytes(uint64_t random, void* data, size_t bytes);

// Acts as armed. Returns the errno to fail with, usually 0. Corrupts `data` if `bytes` is not 0.
// May end the process, or block. Thread-safe.
int HitFailpoint(const char* name, void* data = nullptr, size_t bytes = 0);

// Arms the next worker of `model`. Thread-safe.
void AddWorkerFailpoints(absl::string_view model,
                         std::vector<std::pair<std::string, std::string>>* environment);

}  // namespace mpsd

#define MPSD_FAILPOINT(name) static_cast<void>(::mpsd::HitFailpoint(name))
#define MPSD_FAILPOINT_ERRNO(name) ::mpsd::HitFailpoint(name)
#define MPSD_FAILPOINT_DATA(name, data, bytes) \
  static_cast<void>(::mpsd::HitFailpoint(name, data, bytes))
#define MPSD_FAILPOINT_ENVIRONMENT(model, environment) \
  ::mpsd::AddWorkerFailpoints(model, environment)

#else

#define MPSD_FAILPOINT(name) static_cast<void>(0)
#define MPSD_FAILPOINT_ERRNO(name) 0
#define MPSD_FAILPOINT_DATA(name, data, bytes) static_cast<void>(0)
#define MPSD_FAILPOINT_ENVIRONMENT(model, environment) static_cast<void>(0)

#endif
