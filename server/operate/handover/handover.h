// Handover: how one daemon's listening sockets become its successor's, without a gap.
//
//   old daemon                                   new daemon
//   Successor::Start ── spawn, descriptor 3 ──▶  Predecessor::FromEnvironment
//   sends the lock and the sockets ───────────▶
//   Look: kStarting ◀── "pid 4711" ────────────  loads its models
//   Look: kReady  ◀── "ready" ─────────────────  accepts at the sockets; TellReady
//   stops accepting, drains, exits               serves
//
// Both accept for a moment, so no client finds the sockets without a daemon. If the new one ends
// before it is ready ("ended REASON"), the old one has changed nothing, and serves on.
//
// Under a service manager the new daemon starts its program once more, and its first process ends,
// so that systemd becomes the parent. At a stop systemd kills a main process that is not its child.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/base/clock.h"
#include "proto/base/fd.h"
#include "server/http/inherited_sockets.h"

namespace mpsd {

// The descriptor stays its owner's.
struct HandedSocket {
  std::string asked;  // the config's address
  std::string bound;  // ListeningSocket::address
  int family = 0;
  int fd = -1;
};

// The old daemon's side. Owned by its main thread. Thread-compatible.
class Successor {
 public:
  // Then the new daemon is ended.
  static constexpr int64_t kMostStartNs = 15LL * 60 * kNsPerSecond;

  // kSpawned: its number is not known yet.
  enum class State { kSpawned, kStarting, kReady, kFailed };

  // Starts this process's program again: after an upgrade, the new one. `lock_fd` is the
  // InstanceLock's.
  static absl::StatusOr<std::unique_ptr<Successor>> Start(
      const std::vector<std::string>& arguments, int lock_fd,
      const std::vector<HandedSocket>& sockets, const std::string& worker_folder,
      const std::vector<std::string>& unready_models, int64_t now_ns);

  // Ends the new daemon unless it is ready.
  ~Successor();

  // Does not block. kFailed, with a reason(), once the new daemon has ended or takes too long.
  State Look(int64_t now_ns);

  // The new daemon's; 0 with kSpawned.
  pid_t pid() const { return pid_; }
  const std::string& reason() const { return reason_; }

 private:
  Successor(pid_t child, UniqueFd channel, int64_t now_ns)
      : child_(child), channel_(std::move(channel)), until_ns_(now_ns + kMostStartNs) {}

  // False once the new daemon has closed its end.
  bool Receive();
  void Take(absl::string_view line);
  void ReapChild();
  State Fail(std::string reason);

  pid_t child_;    // started by Start(); 0 once it is reaped
  pid_t pid_ = 0;  // the new daemon: `child_`, or a child of it
  const UniqueFd channel_;
  const int64_t until_ns_;
  State state_ = State::kSpawned;
  std::string unread_;  // a line's beginning
  std::string reason_;
};

// The new daemon's side. Owned by RunDaemon(). Thread-compatible.
class Predecessor {
 public:
  // Nothing unless a Successor has started this process. Blocks until the old daemon has sent the
  // handover; an error if it sends something else. Main calls this first: under a service manager
  // it ends the first of two processes.
  static absl::StatusOr<std::optional<Predecessor>> FromEnvironment();

  // For InstanceLock::Adopt(); called once.
  UniqueFd TakeLock() { return std::move(lock_); }
  const std::shared_ptr<InheritedSockets>& sockets() const { return sockets_; }
  // For its workers' files, which run until it ends.
  const std::string& worker_folder() const { return worker_folder_; }

  // Models that the old daemon cannot serve either.
  const std::vector<std::string>& unready_models() const { return unready_models_; }

  // The old daemon may stop.
  absl::Status TellReady() const { return Tell("ready"); }

  // The old daemon logs the reason.
  void TellEnd(absl::string_view reason) const;

  // The old daemon still drains.
  bool IsThere() const;

 private:
  absl::Status Tell(absl::string_view line) const;

  UniqueFd channel_;
  UniqueFd lock_;
  std::shared_ptr<InheritedSockets> sockets_;
  std::string worker_folder_;
  std::vector<std::string> unready_models_;
};

}  // namespace mpsd
