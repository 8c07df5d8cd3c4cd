// ConnectFaultText, AddressFault: why a connection does not come about, for a person. Pure.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace mpsd::client {

// Looks in gRPC's text `fault` for words that tell the case; `tls`: the client speaks TLS.
//
//   nobody listens                   no server is reachable at A: Connection refused
//   the authority is another one     the certificate of the server at A is not trusted
//   the name is another one          the certificate of the server at A is for another name
//   only the client speaks TLS       the server at A speaks no TLS
//   only the server does             the server at A hangs up; it may want TLS
//   the server speaks HTTP alone     the server at A speaks no gRPC; …
//   a client certificate is missing  the server at A hangs up during the TLS handshake; …
//
// Otherwise the last part of gRPC's text. Thread-safe.
std::string ConnectFaultText(absl::string_view address, bool tls, absl::string_view fault);

// A number from 1 to 65535. Thread-safe.
bool IsPort(absl::string_view text);

// Why Client::Connect() cannot take the address: it has no host or no port, or a scheme that gRPC
// does not know. Empty if it can. Thread-safe.
std::string AddressFault(absl::string_view address);

}  // namespace mpsd::client
