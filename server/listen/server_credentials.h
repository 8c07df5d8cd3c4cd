// The credentials of the server's listeners, as gRPC wants them.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "server/listen/certificate_source.h"

namespace mpsd {

// TLS with what `source` holds when a connection is set up. For one listener; must outlive the
// server. Where the source asks
// clients for a certificate, one that it did not sign is refused; and with `client_must_show`, so
// is a client without any.
std::shared_ptr<grpc::ServerCredentials> TlsCredentials(std::shared_ptr<CertificateSource> source,
                                                        bool client_must_show);

// Plain bytes over a Unix socket; the one listener whose calls say that they are local.
std::shared_ptr<grpc::ServerCredentials> ControlSocketCredentials();

}  // namespace mpsd
