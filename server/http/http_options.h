// HttpServerOptions: the config of the HTTP server, and the addresses where it listens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/http/connections/certificate_source.h"
#include "server/http/inherited_sockets.h"

namespace mpsd {

class Logger;

// One address. A value.
struct HttpAddress {
  // The control socket is a Unix socket for this process's user and root alone.
  enum class Kind : uint8_t { kPlain, kTls, kControl };

  std::string address;   // "127.0.0.1:8000", "unix:/run/mpsd/http.sock"
  const char* key = "";  // the config's, for messages
  Kind kind = Kind::kPlain;
  bool has_own_thread = false;  // no connection of another address delays this one's
};

// Addresses that share bounds. A value. No time is 0.
struct HttpGroup {
  std::vector<HttpAddress> addresses;
  uint32_t connections = 1024;                // that may be open
  uint64_t connection_requests = UINT64_MAX;  // a connection ends with the reply to its last
  int64_t idle_ns = 0;                        // between two requests
};

// A value. No time except `keepalive_ns` is 0.
struct HttpServerOptions {
  std::vector<HttpGroup> groups;
  std::shared_ptr<InheritedSockets> inherited;      // null: all sockets are opened anew
  std::shared_ptr<CertificateSource> certificates;  // REQUIRES: not null if TLS is used
  bool client_must_show_certificate = false;
  uint32_t threads = 1;           // for all addresses without a thread of their own
  uint32_t streams = 128;         // HTTP/2: requests on a connection at a time
  uint32_t resets = 10'000;       // likewise, that a client may reset in a second
  uint64_t head_bytes = 8 << 10;  // of a request
  uint64_t message_bytes = 0;     // of a body
  uint64_t buffered_bytes = 0;    // of all bodies together
  int64_t handshake_ns = 0;       // for the handshake of TLS
  int64_t head_ns = 0;            // from the first byte of a head to its last
  int64_t body_ns = 0;            // the same for a body
  int64_t answer_ns = 0;          // for the client to take a reply
  int64_t keepalive_ns = 0;       // a client silent for so long is probed; 0: never
  int64_t age_ns = INT64_MAX;     // a connection of this age ends with its next reply
  Logger* logger = nullptr;       // null: no log
};

}  // namespace mpsd
