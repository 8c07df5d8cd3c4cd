// ChannelCredentials: what a connection of this folder and of client/traffic shows to the server.
#pragma once

#include <grpcpp/security/credentials.h>

#include <memory>

#include "client/client.h"

namespace mpsd::client {

// TLS with the certificates of `options`, or none of it. The token is no part of them: each call
// carries it. Thread-safe.
std::shared_ptr<grpc::ChannelCredentials> ChannelCredentials(const ConnectOptions& options);

}  // namespace mpsd::client
