// CertificateNames: who a TLS client is.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <vector>

namespace mpsd {

// Common and alternative names (DNS, URI, mail, addresses), at most 32; none unless the certificate
// was verified. Called once a connection, after its handshake. Thread-compatible.
std::vector<std::string> CertificateNames(SSL* connection);

}  // namespace mpsd
