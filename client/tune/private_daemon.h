// PrivateDaemon: a daemon that serves one model to `mpsd tune` alone.
//
//   PrivateFolder ─▶ mpsd.json ─▶ mpsd serve ─▶ the model's workers serve ─▶ … ─▶ SIGTERM
//
// It listens on a socket in its folder and on no port.
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

struct PrivateDaemonOptions {
  std::string program;  // the mpsd to run
  std::string model;
  // The config's text for that folder.
  std::function<std::string(absl::string_view folder)> config;
  absl::Duration start_limit = absl::Minutes(2);
  std::function<bool()> stop;  // true: stop waiting
};

// The daemon runs as long as the object lives. Lives on one thread.
class PrivateDaemon {
 public:
  // Blocks until all workers serve. An error is for the user and leaves nothing behind.
  // FAILED_PRECONDITION: the daemon ended or the model fails. DEADLINE_EXCEEDED: `start_limit` has
  // passed. CANCELLED: `stop`. Any other code: the program cannot be started.
  static absl::StatusOr<std::unique_ptr<PrivateDaemon>> Start(const PrivateDaemonOptions& options);

  // SIGTERM, and SIGKILL after twenty seconds. Removes the folder.
  ~PrivateDaemon();
  PrivateDaemon(const PrivateDaemon&) = delete;
  PrivateDaemon& operator=(const PrivateDaemon&) = delete;

  std::string address() const;

  // When all its workers served.
  const client::ModelStatus& model() const { return model_; }

 private:
  PrivateDaemon(PrivateFolder folder, pid_t pid);

  absl::Status AwaitModel(const PrivateDaemonOptions& options);
  // Updates `model_`. OK also while the model is not ready; otherwise one of Start()'s errors.
  absl::Status LookAt(const std::string& model);
  // Reaps a process that is gone.
  bool HasEnded();
  std::string LastWords() const;

  const PrivateFolder folder_;
  pid_t pid_;  // 0: reaped
  int wait_status_ = 0;
  std::unique_ptr<client::Client> client_;  // set once the daemon listens
  client::ModelStatus model_;
};

// Why the model will hardly become ready; empty: it may. Pure.
std::string StartFault(const client::ModelStatus& model);

// Pure.
bool AllServe(const client::ModelStatus& model);

}  // namespace mpsd::tune
