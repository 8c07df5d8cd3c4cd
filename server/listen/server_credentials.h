// TlsCredentials, ControlSocketCredentials: how the server's listeners prove their identity.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/listen/certificate_source.h"

namespace mpsd {

// TLS for one listener; outlives the server. Each connection gets the certificate that `source`
// holds when gRPC sets the connection up. If the source asks clients for a certificate, one from
// another authority is refused. With `client_must_show`, so is a client without one. Thread-safe.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(std::shared_ptr<CertificateSource> source,
                                                        bool client_must_show);

// Plain bytes over a Unix socket. Only calls of such a listener report that they are local.
// Thread-safe.
std::shared_ptr<grpc::ServerCredentials> ControlSocketCredentials();

}  // namespace mpsd
