// ControlListener: the Unix socket for control calls, open only to this user.
#pragma once

#include <grpcpp/server_builder.h>

#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/base/fd.h"
#include "proto/base/platform.h"
#include "server/telemetry/log/log.h"

namespace mpsd {

// Accepts connections on the socket and hands them to gRPC:
//
//   bind ─▶ mode 0600 ─▶ listen ─▶ accept ─▶ whose is the other end? ─▶ gRPC
//                                                 ╰─▶ of another user: closed, and logged
//
// The mode is 0600 before anybody can connect. The listener also asks the kernel for the user at
// the other end of each connection, and lets in only this process's user and root. Listeners of
// gRPC do neither, so this one accepts on a thread of its own, `control`. Owned by the GrpcServer.
// Thread-compatible.
class ControlListener {
 public:
  // Listens on "unix:PATH". Removes a socket file that a killed daemon left. UNAVAILABLE if another
  // process listens there, or no socket can be made.
  static absl::StatusOr<std::unique_ptr<ControlListener>> Open(const std::string& address,
                                                               Logger* logger);

  // Removes the socket and joins the thread. The server that takes the connections must still
  // exist: it owns those handed over, and ends them itself.
  ~ControlListener();

  // Starts the thread, which hands connections to `acceptor` from now on. Earlier ones wait in the
  // socket's queue. Called once, when the server that takes them has started.
  void Start(std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor);

 private:
  ControlListener(std::string path, UniqueFd listener, platform::Bell bell, platform::Poller poller,
                  Logger* logger);

  // The thread: takes connections until the destructor rings the bell.
  void Main();
  void TakeConnection();
  bool IsLetIn(int connection) const;

  const std::string path_;
  const UniqueFd listener_;
  const platform::Bell bell_;  // rung by the destructor
  platform::Poller poller_;
  Logger* const logger_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::thread thread_;
};

}  // namespace mpsd
