// Handover: how one daemon's listening sockets become its successor's, without a gap.
//
//   old daemon                                   new daemon
//   Successor::Start ── spawn, descriptor 3 ──▶  Predecessor::FromEnvironment
//   sends the lock and the sockets ───────────▶
//   Look: kStarting ◀── "pid 4711" ────────────  loads its models
//   Look: kReady  ◀── "ready" ─────────────────  accepts at the sockets; TellReady
//   stops accepting, drains, exits               serves
//
// Both accept for a moment, so no client finds the sockets without a daemon. A new daemon may end
// before it is ready, and say why ("ended REASON"). Then the old one has changed nothing, and
// serves on.
//
// Under a service manager the new daemon starts its program once more, and its first process ends.
// So systemd becomes the parent. At a stop it waits only for a main process that is its own child,
// and kills any other at once.
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

// A socket as the old daemon has it. The descriptor stays its owner's.
struct HandedSocket {
  std::string asked;  // address as the config has it
  std::string bound;  // ListeningSocket::address
  int family = 0;
  int fd = -1;
};

// The old daemon's side. Owned by the daemon's main thread, which looks. Thread-compatible.
class Successor {
 public:
  // A new daemon that is not ready after this time is ended.
  static constexpr int64_t kMostStartNs = 15LL * 60 * kNsPerSecond;

  // kSpawned: the new daemon has not told its number yet.
  enum class State { kSpawned, kStarting, kReady, kFailed };

  // Starts this process's program again with the same arguments. After an upgrade of the package
  // the program is the new one. `lock_fd` is the InstanceLock's, and `worker_folder` this daemon's.
  static absl::StatusOr<std::unique_ptr<Successor>> Start(const std::vector<std::string>& arguments,
                                                          int lock_fd,
                                                          const std::vector<HandedSocket>& sockets,
                                                          const std::string& worker_folder,
                                                          int64_t now_ns);

  // Ends the new daemon unless it is ready.
  ~Successor();

  // Does not block. kFailed, once the new daemon has ended or takes too long; then reason() says
  // why.
  State Look(int64_t now_ns);

  // The new daemon's number; 0 with kSpawned.
  pid_t pid() const { return pid_; }
  const std::string& reason() const { return reason_; }

 private:
  Successor(pid_t child, UniqueFd channel, int64_t now_ns)
      : child_(child), channel_(std::move(channel)), until_ns_(now_ns + kMostStartNs) {}

  // Reads what the new daemon has said. False once it has closed its end.
  bool Receive();
  void Take(absl::string_view line);
  void ReapChild();
  State Fail(std::string reason);

  pid_t child_;    // the process that Start() has started; 0 once it is reaped
  pid_t pid_ = 0;  // the new daemon: that process, or a child of it
  const UniqueFd channel_;
  const int64_t until_ns_;
  State state_ = State::kSpawned;
  std::string unread_;  // the beginning of a line
  std::string reason_;
};

// The new daemon's side. Owned by RunDaemon(). Thread-compatible.
class Predecessor {
 public:
  // Nothing if this process was not started by a Successor. An error if the old daemon has sent
  // something else than a handover. Blocks until it has sent that. Ends the process under a service
  // manager, if that is the first of two; so main calls it first.
  static absl::StatusOr<std::optional<Predecessor>> FromEnvironment();

  // The lock's descriptor, for InstanceLock::Adopt(); called once.
  UniqueFd TakeLock() { return std::move(lock_); }
  const std::shared_ptr<InheritedSockets>& sockets() const { return sockets_; }
  // The old daemon's folder for its workers' files, which run until it ends.
  const std::string& worker_folder() const { return worker_folder_; }

  // This daemon accepts at the sockets: the old one may stop.
  absl::Status TellReady() const { return Tell("ready"); }

  // This daemon ends, for a reason that the old one logs.
  void TellEnd(absl::string_view reason) const;

  // Whether the old daemon still runs, and drains.
  bool IsThere() const;

 private:
  absl::Status Tell(absl::string_view line) const;

  UniqueFd channel_;
  UniqueFd lock_;
  std::shared_ptr<InheritedSockets> sockets_;
  std::string worker_folder_;
};

}  // namespace mpsd
