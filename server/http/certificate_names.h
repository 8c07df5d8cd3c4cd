// CertificateNames: the identity of a TLS client, by its certificate.
#pragma once

#include <openssl/ssl.h>

#include <string>
#include <vector>

namespace mpsd {

// The common name and the alternative names (DNS, URI, mail, addresses) in the client's
// certificate; at most 32. None without a certificate, or with one that was not verified. Called
// once a connection, after its handshake. Thread-compatible.
std::vector<std::string> CertificateNames(SSL* connection);

}  // namespace mpsd
