// Failpoints: named points in the code where a test makes a process die, stop, wait, fail or lie.
//
// They exist in test builds only: MPSD_FAILPOINTS=ON, and mpsd_failpoints() in cmake/Toolbox.cmake.
// In a release the macros leave nothing behind, not even the names. The environment arms them when
// the process starts:
//
//   MPSD_FAILPOINTS="worker.after_claim=kill@20,dispatch.before_ring=sleep:30%5"
//   MPSD_FAILPOINTS_SEED=7
//
//   name=action[:argument][@hit|%percent]
//
// kill, stop     raises SIGKILL or SIGSTOP
// exit[:code]    exits at once, without destructors; the code is 42 unless given
// sleep:ms       sleeps, then goes on
//
// errno:NAME     ENOMEM, EMFILE, EAGAIN, EIO or a number: the operation fails with this errno
// corrupt        writes random bytes over the data that the failpoint passes
//
// Without @ or % every pass acts. With @ only the pass with that number acts, counted from 1 in
// each process. With % each pass acts with that probability, drawn from the seed. A pass that acts
// says so on stderr; a sleep only the first time. Names of failpoints in a worker begin with
// "worker.". Only those are passed on to workers, and each incarnation gets its own seed.
// MPSD_FAILPOINTS_SPARE=MODEL spares that model's workers.
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

// The action due at one pass through a failpoint.
struct FailpointAct {
  FailpointAction action = FailpointAction::kKill;
  int64_t argument = 0;  // exit code, milliseconds or errno; for kCorrupt a random number
  uint64_t pass = 0;     // number of this pass, counted from 1
  bool first = false;    // true if the entry acts for the first time
};

// The failpoints armed in a process. It only decides; HitFailpoint() acts. Made at the first pass
// and never destroyed. Thread-safe.
class FailpointTable {
 public:
  // INVALID_ARGUMENT names the entry that is not a failpoint.
  static absl::StatusOr<std::unique_ptr<FailpointTable>> Parse(absl::string_view text,
                                                               uint64_t seed);
  ~FailpointTable();

  // Counts a pass through the failpoint `name` and returns the action due; usually nothing.
  std::optional<FailpointAct> Pass(absl::string_view name);

  // The entries for workers.
  static std::string WorkerPart(absl::string_view text);

 private:
  struct Entry;
  explicit FailpointTable(uint64_t seed);

  const uint64_t seed_;
  std::vector<std::unique_ptr<Entry>> entries_;  // constant after Parse(), their counts atomic
};

// Overwrites about one byte in eight, at least one, with bytes drawn from `random`.
void CorruptBytes(uint64_t random, void* data, size_t bytes);

// A pass through the failpoint: acts as armed. Returns the errno to fail with, usually 0. Corrupts
// `data` if armed to and `bytes` is not 0. May end the process, or block. Thread-safe.
int HitFailpoint(const char* name, void* data = nullptr, size_t bytes = 0);

// Adds the variables that arm the next worker of `model` to its environment. Thread-safe.
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
