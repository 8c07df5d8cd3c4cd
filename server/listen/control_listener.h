// ControlListener: the Unix socket for control calls, which only this user may open.
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

// Thread-compatible: owned by the GrpcServer. The socket's mode is 0600 before anybody can connect,
// and besides each connection's other end is asked for: only this process's user and root are let
// in. gRPC's own listeners know neither, so that the connections are taken on a thread of its own,
// `control`, and handed to gRPC.
class ControlListener {
 public:
  // Listens on "unix:PATH". What a daemon that was killed left there is removed. UNAVAILABLE when
  // another process listens there, or nothing can be made there.
  static absl::StatusOr<std::unique_ptr<ControlListener>> Open(const std::string& address,
                                                               Logger* logger);

  // Removes the socket and joins the thread. `acceptor` of Start() must still be there.
  ~ControlListener();

  // Hands connections to `acceptor` from now on. Once.
  void Start(std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor);

 private:
  ControlListener(std::string path, UniqueFd listener, platform::Bell bell, platform::Poller poller,
                  Logger* logger);

  void Main();
  void TakeConnection();
  bool IsLetIn(int connection) const;

  const std::string path_;
  const UniqueFd listener_;
  const platform::Bell bell_;  // the end
  platform::Poller poller_;
  Logger* const logger_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::thread thread_;
};

}  // namespace mpsd
