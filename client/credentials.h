// ChannelCredentials: the TLS that a connection shows to the server, or none.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>

#include "client/client.h"

namespace mpsd::client {

// Each call carries the token instead. Thread-safe.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const ConnectOptions& options);

}  // namespace mpsd::client
