// PrivateDaemon: a daemon of `mpsd tune`'s own, which serves one model to nobody else.
//
//   PrivateFolder ─▶ mpsd.json ─▶ mpsd serve ─▶ the model's workers serve ─▶ … ─▶ SIGTERM
//
// It listens on a socket in its folder and on no port, so it disturbs no other daemon of the host
// but by the cores that it takes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/client.h"
#include "client/daemon_status.h"
#include "client/tune/private_folder.h"

namespace mpsd::tune {

// What to start, and how long to wait for it.
struct PrivateDaemonOptions {
  std::string program;  // the mpsd to run
  std::string model;
  std::function<std::string(absl::string_view folder)> config;  // the text, for that folder
  absl::Duration start_limit = absl::Minutes(2);
  std::function<bool()> stop;  // asked while it waits
};

// The daemon, as long as the object lives. Lives on one thread.
class PrivateDaemon {
 public:
  // Blocks until all workers of the model serve. Otherwise nothing is left of it, and the error
  // says why in words for the user: FAILED_PRECONDITION when the daemon ended or the model fails,
  // DEADLINE_EXCEEDED after `start_limit`, CANCELLED when `stop` said so, another one when the
  // program cannot be started.
  static absl::StatusOr<std::unique_ptr<PrivateDaemon>> Start(const PrivateDaemonOptions& options);

  // Ends the daemon by SIGTERM and waits for that, kills it after twenty seconds, and removes its
  // folder.
  ~PrivateDaemon();
  PrivateDaemon(const PrivateDaemon&) = delete;
  PrivateDaemon& operator=(const PrivateDaemon&) = delete;

  std::string address() const;

  // The model as it was when all its workers served.
  const client::ModelStatus& model() const { return model_; }

 private:
  PrivateDaemon(PrivateFolder folder, pid_t pid);

  absl::Status AwaitModel(const PrivateDaemonOptions& options);
  // OK: not yet, if `model_` is not ready; else an error as of Start().
  absl::Status LookAt(const std::string& model);
  // True when the process is gone, which it is once.
  bool HasEnded();
  std::string LastWords() const;

  const PrivateFolder folder_;
  pid_t pid_;  // 0: reaped
  int wait_status_ = 0;
  std::unique_ptr<client::Client> client_;  // once it listens
  client::ModelStatus model_;
};

// Why a model that is not ready will hardly become so; empty: it may still. Pure.
std::string StartFault(const client::ModelStatus& model);

// Whether all workers of the model serve. Pure.
bool AllServe(const client::ModelStatus& model);

}  // namespace mpsd::tune
