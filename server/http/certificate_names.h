// CertificateNames: who a client of a TLS connection is, by its certificate.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <vector>

namespace mpsd {

// The common name and the alternative names (DNS, URI, mail, addresses) of the certificate that the
// client has shown; at most 32. None where the client showed no certificate, or one that was not
// verified. The same names as CallGate finds for gRPC. Called once a connection, after its
// handshake. Thread-compatible.
std::vector<std::string> CertificateNames(SSL* connection);

}  // namespace mpsd
