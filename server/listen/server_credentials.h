// TlsCredentials, ControlSocketCredentials: how the server's listeners prove who they are.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/listen/certificate_source.h"

namespace mpsd {

// TLS. Each connection gets the certificate that `source` holds when gRPC sets the connection up.
// For one listener; outlives the server. Where the source asks clients for a certificate, a client
// whose certificate has another authority is refused. With `client_must_show`, so is a client that
// shows none. Thread-safe.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(std::shared_ptr<CertificateSource> source,
                                                        bool client_must_show);

// Plain bytes over a Unix socket. Only calls of such a listener report that they are local.
// Thread-safe.
std::shared_ptr<grpc::ServerCredentials> ControlSocketCredentials();

}  // namespace mpsd
