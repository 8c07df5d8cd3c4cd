#include "server/operate/upgrade_verb.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/clock.h"
#include "proto/base/fd.h"
#include "server/config/config.h"
#include "server/operate/config_paths.h"
#include "server/operate/handover/handover.h"
#include "server/operate/handover/handover_outcome.h"
#include "server/operate/handover/instance_lock.h"

namespace mpsd {
namespace {

const absl::Duration kLook = absl::Milliseconds(20);
// The daemon itself gives up sooner.
constexpr int64_t kLimitNs = Successor::kMostStartNs + 60 * kNsPerSecond;
constexpr char kFolderOfUnit[] = "/var/lib/mpsd";

struct RunningDaemon {
  std::string state_dir;
  InstanceLock::Holder holder;
};

std::string NameOf(const InstanceLock::Holder& holder) {
  return absl::StrCat("mpsd ", holder.version, " (process ", holder.pid, ")");
}

absl::StatusOr<RunningDaemon> FindDaemon(const std::vector<std::string>& folders) {
  absl::Status closed;
  for (const std::string& folder : folders) {
    const absl::StatusOr<InstanceLock::Holder> holder = InstanceLock::HolderOf(folder);
    if (holder.ok()) return RunningDaemon{folder, *holder};
    if (!absl::IsNotFound(holder.status())) closed.Update(holder.status());
  }
  if (!closed.ok()) return absl::PermissionDeniedError(closed.message());
  return absl::NotFoundError(absl::StrCat("no daemon runs here: nobody holds the lock in ",
                                          absl::StrJoin(folders, " or ")));
}

absl::Status CheckAble(const InstanceLock::Holder& holder) {
  if (holder.version.empty()) {
    return absl::FailedPreconditionError("the daemon is of a version that does not hand over");
  }
  // Here that number may be another process's.
  if (holder.pid != 1) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the daemon is the first process of a container, which would end with it");
}

absl::Status WaitForOutcome(const RunningDaemon& daemon) {
  const Clock* const clock = Clock::Real();
  const int64_t until_ns = clock->NowNs() + kLimitNs;
  while (clock->NowNs() < until_ns) {
    // A daemon writes the file before it ends, so its end is looked for first.
    const bool is_there = kill(daemon.holder.pid, 0) == 0;
    const std::optional<absl::Status> outcome = ReadHandoverOutcome(daemon.state_dir);
    if (outcome.has_value()) return *outcome;
    if (!is_there) return absl::NotFoundError("the daemon has ended");
    absl::SleepFor(kLook);
  }
  return absl::NotFoundError("the daemon does not answer");
}

// `turn` is a descriptor of the state folder.
absl::Status Ask(const RunningDaemon& daemon, int turn) {
  if (turn >= 0 && flock(turn, LOCK_EX | LOCK_NB) != 0) {
    return absl::AbortedError("another `mpsd upgrade` waits for this daemon");
  }
  ForgetHandoverOutcome(daemon.state_dir);
  if (turn >= 0 && kill(daemon.holder.pid, SIGUSR2) == 0) return WaitForOutcome(daemon);
  return absl::PermissionDeniedError(
      absl::StrCat("process ", daemon.holder.pid, " cannot be asked: ", std::strerror(errno)));
}

}  // namespace

std::vector<std::string> StateFolders(const std::string& of_config, const std::string& own) {
  if (!of_config.empty()) return {of_config};
  if (own == kFolderOfUnit) return {own};
  return {own, kFolderOfUnit};
}

absl::Status RunUpgrade(const UpgradeOptions& options, std::ostream& out) {
  const absl::StatusOr<ConfigPaths> paths = ReadConfigPaths(options.config);
  if (absl::IsInvalidArgument(paths.status())) return paths.status();
  if (!paths.ok()) return absl::PermissionDeniedError(paths.status().message());
  const absl::StatusOr<RunningDaemon> daemon =
      FindDaemon(StateFolders(paths->state_dir, DefaultStateDir()));
  if (!daemon.ok()) return daemon.status();
  if (absl::Status able = CheckAble(daemon->holder); !able.ok()) return able;
  const UniqueFd turn(open(daemon->state_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const absl::Status outcome = Ask(*daemon, turn.get());
  if (absl::IsNotFound(outcome)) return outcome;
  if (!outcome.ok()) {
    return absl::Status(outcome.code(), absl::StrCat(outcome.message(), "\n",
                                                     NameOf(daemon->holder), " serves on"));
  }
  const absl::StatusOr<InstanceLock::Holder> now = InstanceLock::HolderOf(daemon->state_dir);
  if (!now.ok()) return absl::NotFoundError("the new daemon has ended already");
  out << NameOf(daemon->holder) << " has handed over to " << NameOf(*now) << "\n";
  return absl::OkStatus();
}

}  // namespace mpsd
