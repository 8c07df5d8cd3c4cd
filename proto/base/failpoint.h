// Failpoints: named places where a test makes a process die, stop, wait, fail or lie.
//
// They exist in test builds only: MPSD_FAILPOINTS=ON, and mpsd_failpoints() in cmake/Toolbox.cmake.
// In a release the macros leave nothing behind, not even the names. They are armed by the
// environment when the process starts:
//
//   MPSD_FAILPOINTS="worker.after_claim=kill@20,dispatch.before_ring=sleep:30%5"
//   MPSD_FAILPOINTS_SEED=7
//
//   name=action[:argument][@hit|%percent]
//
// kill, stop     the signal; nobody is asked
// exit[:code]    at once, without destructors; 42 unless said
// sleep:ms       then on as if nothing had been
// errno:NAME     ENOMEM, EMFILE, EAGAIN, EIO or a number: the operation fails so
// corrupt        random bytes over what the place offers
//
// Without @ or % every pass through the place acts; with @ only that one, counted from 1 in each
// process; with % each of them with that probability, drawn from the seed. What acts says so on
// stderr, a sleep the first time only. Names of places in a worker begin with "worker."; only those
// are handed to workers, each incarnation with a seed of its own. MPSD_FAILPOINTS_SPARE=MODEL
// spares that model's workers.
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
  int64_t argument = 0;  // exit code, milliseconds, errno; of kCorrupt the draw's random number
  uint64_t pass = 0;     // how often the place was passed, this time included
  bool first = false;    // it is the first time that the entry acts
};

// What is armed in a process. Thread-safe. Decides only; HitFailpoint() acts.
class FailpointTable {
 public:
  // INVALID_ARGUMENT names the entry that is no failpoint.
  static absl::StatusOr<std::unique_ptr<FailpointTable>> Parse(absl::string_view text,
                                                               uint64_t seed);
  ~FailpointTable();

  // Notes a pass through the place `name`, and says what is to happen there, if anything is.
  std::optional<FailpointAct> Pass(absl::string_view name);

  // The entries of `text` that a worker is to have.
  static std::string WorkerPart(absl::string_view text);

 private:
  struct Entry;
  explicit FailpointTable(uint64_t seed);

  const uint64_t seed_;
  std::vector<std::unique_ptr<Entry>> entries_;  // constant after Parse(), their counts atomic
};

// Overwrites about one in eight of the bytes, at least one, with what `random` yields.
void CorruptBytes(uint64_t random, void* data, size_t bytes);

// A pass through the place, with all that comes of it. The errno to fail with; 0 mostly.
// Thread-safe. `data` is what kCorrupt spoils; without any it does nothing.
int HitFailpoint(const char* name, void* data = nullptr, size_t bytes = 0);

// The variables that arm the next worker, one of `model`, for its environment. Thread-safe.
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
